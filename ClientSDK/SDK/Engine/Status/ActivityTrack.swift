/// The part of a status that depends on earlier statuses. It keeps what is shown true between two attempts, and moving
/// forwards only. Pure.
struct ActivityTrack: Hashable, Sendable {
    /// The reason why the last attempt or connection ended; `nil` from the next welcome on.
    private(set) var failure: SyncFailure?
    /// The progress of the current activity.
    private(set) var progress = SyncProgress(done: 0, total: 1)
    /// The current stretch of work: the parts filled and records received at its beginning, the writes sent since, the
    /// writes that wait, and whether the device had to take in something new. `nil` while nothing is under way.
    private var stretch: (filled: Int, received: Int, sent: Int, waiting: Int, takesIn: Bool)?
    private var isUncounted = true
    /// True when everything was taken in on this connection, and little has arrived since.
    private(set) var isInStep = false

    /// The largest number of collections of scopes that may be taken in without leaving `upToDate`: a scope or two
    /// that arrive.
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
        switch status.connection {
        case .stopped, .catchingUp, .live: failure = nil
        case .connecting: break
        case .waiting(_, let reason), .offline(_, let reason), .rejected(let reason): failure = reason
        }
        let isLittle = status.filled.total - status.filled.done <= Self.quietMax
        isInStep = status.connection == .live || isInStep && status.connection == .catchingUp && isLittle
        guard status.isUnderWay(self) else {
            stretch = nil
            progress = SyncProgress(done: 0, total: 1)
            return
        }
        let waiting = status.pending + status.blobsToSend
        var stretch = stretch ?? (status.filled.done, status.received, 0, waiting, false)
        // Parts that were filled before the first count are not part of this stretch.
        let isFirstCount = isUncounted && status.filled.total > 0
        isUncounted = status.filled.total == 0
        stretch.filled = isFirstCount ? status.filled.done : min(stretch.filled, status.filled.done)
        stretch.sent += max(0, stretch.waiting - waiting)
        stretch.waiting = waiting
        let filled = status.filled.done - stretch.filled
        if status.connection != .live { stretch.takesIn = true }
        let takenIn = stretch.takesIn && status.connection == .live ? 1 : 0
        progress = SyncProgress(
            done: filled + stretch.sent + takenIn,
            total: status.filled.total - stretch.filled + stretch.sent + waiting + (stretch.takesIn ? 1 : 0),
            records: status.received - stretch.received,
            // New work lengthens the rest and does not move the progress backwards.
            floor: self.stretch == nil ? 0 : progress.fraction)
        self.stretch = stretch
    }
}
