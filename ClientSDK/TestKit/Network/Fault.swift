/// The point at which an answer to a push is lost.
public enum AckLoss: Hashable, Sendable {
    /// The push itself is lost: the server never sees it.
    case send
    /// The server commits; its answer, and the connection, are lost.
    case commit
}

/// The moment at which a client's process ends.
public enum KillPoint: Hashable, Sendable {
    /// The write is durable on the device; nothing was sent.
    case beforePush
    /// The push was sent; nobody will receive the answer.
    case afterPush
    /// The answer has arrived, but is not yet in the local database.
    case beforeApply
}

/// A fault of a call for a blob.
public enum BlobFault: Hashable, Sendable {
    /// The call never reaches the server.
    case callLost
    /// The server handles the call, and its answer is lost.
    case answerLost
    /// The call reaches the server twice.
    case doubled
    /// The server answers with this HTTP status and does nothing; optionally it names seconds to wait.
    case refused(status: Int, retryAfter: Int? = nil)
    /// The server's bytes are changed on the way.
    case falsified
}

/// The faults that are armed for one client's next pushes.
struct ArmedFaults: Sendable {
    enum Fault: Sendable {
        case dropAck(AckLoss)
        case answer(UInt16)
        case duplicate
        case kill(KillPoint)
    }

    private var queue: [Fault] = []

    mutating func arm(_ fault: Fault, times: Int) { queue += Array(repeating: fault, count: max(0, times)) }

    /// Returns the fault that strikes a push.
    mutating func takeForPush() -> Fault? {
        switch queue.first {
        case nil, .kill(.beforeApply)?: nil
        case .dropAck?, .answer?, .duplicate?, .kill?: queue.removeFirst()
        }
    }

    /// True when the next answer that arrives kills its reader.
    var killsOnAnswer: Bool { if case .kill(.beforeApply)? = queue.first { true } else { false } }

    /// Removes the first fault after it has struck.
    mutating func drop() { if !queue.isEmpty { queue.removeFirst() } }
}
