import TidemarkModel

/// Counts the connections of this client that were replaced by another one. Then a copy of its file is open elsewhere,
/// and neither of the two would stay connected for long.
///
/// A copy that writes is found by its numbers; one that only reads is found by this count.
struct Replacements: Sendable {
    private var count = 0
    private var since: Milliseconds = 0
    private var connection: Int64 = 0

    /// - Parameter number: the number of the connection, as the file counts them. If another process of the same file
    ///   counts along, it is that process that connects, and a new client id would not help.
    mutating func opened(_ number: Int64) {
        if number != connection + 1 { count = 0 }
        connection = number
    }

    /// Notes that the server closed the connection because the client connected again.
    ///
    /// - Returns: true when the file needs a client id of its own.
    mutating func closed(now: Milliseconds, _ timing: EngineTiming) -> Bool {
        if count == 0 || now - since > timing.replacedWithin { (count, since) = (0, now) }
        count += 1
        guard count >= timing.replacedMax else { return false }
        count = 0
        return true
    }
}

extension Replacements: RecordedMembers {
    mutating func members(_ all: inout MachineMembers) {
        all.member("count", &count)
        all.member("since", &since)
        all.member("connection", &connection)
    }
}
