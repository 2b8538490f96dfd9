import TidemarkLock

/// The events that a courier has not handled yet. Bounded: flags, and the ends of the uploads in flight.
final class BlobInbox: Sendable {
    private struct State {
        var isLinked: Bool?
        /// True when the connection ended since the last look, even if there is a new one.
        var wasUnlinked = false
        var hasWritten = false
        var hasRung = false
        var ends: [(BlobKey, BlobUploadEnd)] = []
        var round: Int64?
        var downloads: [BlobKey] = []
    }

    private let state = Lock(State())
    private let signalling: AsyncStream<Void>.Continuation
    /// Fires when there is something to take.
    let signals: AsyncStream<Void>

    init() { (signals, signalling) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func linked(_ isLinked: Bool) {
        note { state in
            state.isLinked = isLinked
            if !isLinked { state.wasUnlinked = true }
        }
    }
    func wrote() { note { $0.hasWritten = true } }
    func rang() { note { $0.hasRung = true } }
    func ended(_ key: BlobKey, _ end: BlobUploadEnd) { note { $0.ends.append((key, end)) } }
    func round(_ round: Int64) { note { $0.round = max(round, $0.round ?? round) } }
    func fetch(_ keys: [BlobKey]) { note { $0.downloads += keys } }

    /// Takes the noted events, in a sensible order, and the downloads to start.
    func take() -> (events: [BlobUploads.Event], hasRung: Bool, downloads: [BlobKey]) {
        let taken = state.withLock { state in
            defer { state = State() }
            return state
        }
        var events: [BlobUploads.Event] = []
        if taken.wasUnlinked, taken.isLinked == true { events.append(.linked(false)) }
        if let isLinked = taken.isLinked { events.append(.linked(isLinked)) }
        if taken.hasWritten { events.append(.wrote) }
        events += taken.ends.map { .ended($0.0, $0.1) }
        if taken.hasRung { events.append(.tick) }
        if let round = taken.round { events.append(.round(round)) }
        return (events, taken.hasRung, taken.downloads)
    }

    private func note(_ change: (inout State) -> Void) {
        state.withLock { change(&$0) }
        signalling.yield()
    }
}
