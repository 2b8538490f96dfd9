import TidemarkLock
import TidemarkModel
import TidemarkWire

/// Collects the app's requests to the engine between two looks. Any number of calls become one event, and none is lost.
final class EngineHints: Sendable {
    private struct State {
        var isWanted: Bool?
        var hasWritten = false
        var isHurried = false
        var network: [NetworkChange] = []
        var wantsPages = false
        var round: Int64?
        var collectionRounds: [String: Int64] = [:]
        var said: [Ephemeral] = []
        var isWatchChanged = false
        var histories: [RecordKey] = []
        var compares = false
    }

    /// The largest number of ephemeral messages that wait for the engine; beyond it the oldest are dropped.
    private static let saidMax = 32
    /// The largest number of histories requested between two looks; more are ignored.
    private static let historiesMax = 64

    /// The largest number of network changes kept; beyond it the oldest are dropped, since newer ones supersede them.
    private static let networkMax = 2

    private let state = Lock(State())
    private let signalling: AsyncStream<Void>.Continuation
    /// Fires when there is something to take.
    let signals: AsyncStream<Void>

    init() { (signals, signalling) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func wrote() { note { $0.hasWritten = true } }
    func wantPages() { note { $0.wantsPages = true } }
    func compare() { note { $0.compares = true } }
    func hurry() { note { $0.isHurried = true } }
    func network(_ change: NetworkChange) {
        note { state in
            state.network.append(change)
            if state.network.count > Self.networkMax { state.network.removeFirst() }
        }
    }
    func sync(_ round: Int64) { note { $0.round = max(round, $0.round ?? round) } }
    func sync(_ collection: String, _ round: Int64) {
        note { $0.collectionRounds[collection] = max(round, $0.collectionRounds[collection] ?? round) }
    }
    func say(_ message: Ephemeral) {
        note { state in
            state.said.append(message)
            if state.said.count > Self.saidMax { state.said.removeFirst() }
        }
    }
    func watchChanged() { note { $0.isWatchChanged = true } }
    func history(of key: RecordKey) {
        note { state in
            guard state.histories.count < Self.historiesMax, !state.histories.contains(key) else { return }
            state.histories.append(key)
        }
    }
    /// Connects or disconnects; the last call decides.
    func want(_ isWanted: Bool) { note { $0.isWanted = isWanted } }

    /// Returns the requests noted since the last call, in the order in which the machine needs them.
    ///
    /// - Parameter watched: returns the scopes whose presence is watched now.
    func take(watched: () -> Set<ScopeID>) -> [SyncEvent] {
        let taken = state.withLock { state in
            defer { state = State() }
            return state
        }
        var events: [SyncEvent] = []
        if let isWanted = taken.isWanted { events.append(isWanted ? .start : .stop) }
        if taken.hasWritten { events.append(.wrote) }
        if taken.wantsPages { events.append(.wantsPages) }
        if taken.isHurried { events.append(.hurry) }
        events += taken.network.map { .network($0) }
        if let round = taken.round { events.append(.sync(round: round)) }
        for (collection, round) in taken.collectionRounds.sorted(by: { $0.value < $1.value }) {
            events.append(.syncCollection(collection, round: round))
        }
        if taken.isWatchChanged { events.append(.watch(watched())) }
        events += taken.said.map { .say($0) }
        events += taken.histories.map { .history($0) }
        if taken.compares { events.append(.compare) }
        return events
    }

    private func note(_ change: (inout State) -> Void) {
        state.withLock { change(&$0) }
        signalling.yield()
    }
}
