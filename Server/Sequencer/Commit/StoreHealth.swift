import TidemarkModel
import TidemarkStore

/// The store's ability to commit, as of the last attempt: a pure machine. Many workspaces try at once, and all of them
/// meet the same full disk: the machine selects what is worth a line in the log.
struct StoreHealth {
    enum Note: Hashable {
        /// A commit failed, for the first time or again after a while; `unnoted` failures in between were not logged.
        case fails(StoreError, unnoted: Int)
        case recovers
    }

    /// The fault of the store as a whole.
    private(set) var fault: StoreError.Fault?
    private var last: (error: StoreError, at: Milliseconds)?
    private var unnoted = 0

    /// - Returns: what to log, if anything.
    mutating func failed(_ error: StoreError, now: Milliseconds) -> Note? {
        guard error.kind == .unavailable else { return nil }
        let isNews = error.fault != nil && error.fault != fault
        if let found = error.fault { fault = found }
        let wait = last.map { $0.error == error ? Self.sameNoteEvery : Self.noteEvery } ?? 0
        let age = last.map { abs(now - $0.at) } ?? 0
        guard isNews || last == nil || age >= wait else {
            unnoted += 1
            return nil
        }
        defer { unnoted = 0 }
        last = (error, now)
        return .fails(error, unnoted: unnoted)
    }

    /// Records that a commit, or a probe, succeeded.
    mutating func succeeded() -> Note? {
        guard fault != nil else { return nil }
        fault = nil
        return .recovers
    }

    /// The milliseconds between two log lines: about different failures, and about the same one.
    private static let noteEvery: Int64 = 1_000
    private static let sameNoteEvery: Int64 = 60_000
}
