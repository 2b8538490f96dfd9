import TidemarkLock
import TidemarkModel
import TidemarkWire

/// What the app tells the engine between two looks: any number of calls become one, and none is lost.
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

    /// Ephemeral messages that wait for the engine; of more, the oldest are dropped.
    private static let saidMax = 32
    /// Histories that may be wanted between two looks; more are forgotten.
    private static let historiesMax = 64

    /// Changes of the network that are kept: of more, the oldest are overtaken.
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
    /// The last word counts.
    func want(_ isWanted: Bool) { note { $0.isWanted = isWanted } }

    /// What was noted since, in the order in which it makes sense.
    ///
    /// - Parameter watched: the scopes whose presence is watched at the moment.
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
