/// What a status remembers from one change to the next, so that what it shows stays true between two attempts and goes
/// forwards only. Pure.
struct ActivityTrack: Hashable, Sendable {
    /// Why the last attempt or connection ended; over with the next welcome.
    private(set) var failure: SyncFailure?
    /// How far that has come which is under way.
    private(set) var progress = SyncProgress(done: 0, total: 1)
    /// The work under way: the parts filled and records received at its beginning, the writes sent since and those that wait,
    /// and whether the device had to take in something new; `nil` while nothing is under way.
    private var stretch: (filled: Int, received: Int, sent: Int, waiting: Int, takesIn: Bool)?
    private var isUncounted = true
    /// Everything was taken in on this connection, and what has arrived since is little.
    private(set) var isInStep = false

    /// Collections of scopes that are taken in without a word once everything was: a scope or two that arrive.
    private static let quietMax = 16

    static func == (left: ActivityTrack, right: ActivityTrack) -> Bool {
        left.failure == right.failure && left.progress == right.progress && left.isInStep == right.isInStep
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(failure)
        hasher.combine(progress)
        hasher.combine(isInStep)
    }

    mutating func follow(_ status: SyncStatus) {
        switch status.phase {
        case .stopped, .catchingUp, .live: failure = nil
        case .connecting: break
        case .waiting(_, let reason), .offline(_, let reason), .refused(let reason): failure = reason
        }
        let isLittle = status.filled.total - status.filled.done <= Self.quietMax
        isInStep = status.phase == .live || isInStep && status.phase == .catchingUp && isLittle
        guard status.isUnderWay(self) else {
            stretch = nil
            progress = SyncProgress(done: 0, total: 1)
            return
        }
        let waiting = status.pending + status.blobsToSend
        var stretch = stretch ?? (status.filled.done, status.received, 0, waiting, false)
        // What was here before anybody counted is not the work of now.
        let isFirstCount = isUncounted && status.filled.total > 0
        isUncounted = status.filled.total == 0
        stretch.filled = isFirstCount ? status.filled.done : min(stretch.filled, status.filled.done)
        stretch.sent += max(0, stretch.waiting - waiting)
        stretch.waiting = waiting
        let filled = status.filled.done - stretch.filled
        if status.phase != .live { stretch.takesIn = true }
        let takenIn = stretch.takesIn && status.phase == .live ? 1 : 0
        progress = SyncProgress(
            done: filled + stretch.sent + takenIn,
            total: status.filled.total - stretch.filled + stretch.sent + waiting + (stretch.takesIn ? 1 : 0),
            records: status.received - stretch.received,
            // New work makes the rest longer, and nothing of it undone.
            floor: self.stretch == nil ? 0 : progress.fraction)
        self.stretch = stretch
    }
}
