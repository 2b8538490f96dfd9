import TidemarkModel
import TidemarkWire

/// The app's requests to the engine since its loop last took them. Any number of them become few events, and none is
/// lost. Pure.
struct AppRequests: Sendable {
    /// The largest number of ephemeral messages that wait; beyond it the oldest are dropped.
    private static let saidMax = 32
    /// The largest number of histories that wait; more are ignored.
    private static let historiesMax = 64
    /// The largest number of network changes kept; beyond it the oldest are dropped, since newer ones supersede them.
    private static let networkMax = 2

    private var wanted: SyncEvent?
    private var wrote = false
    private var wantsPages = false
    private var network: [NetworkChange] = []
    private var round: Int64?
    private var collectionRounds: [String: Int64] = [:]
    private var watched: Set<ScopeID>?
    private var said: [Ephemeral] = []
    private var histories: [RecordKey] = []
    private var compares = false

    /// Adds a request. Of `start` and `stop`, and of the watched scopes, the last decides.
    mutating func add(_ event: SyncEvent) {
        switch event {
        case .start, .stop: wanted = event
        case .wrote: wrote = true
        case .wantsPages: wantsPages = true
        case .network(let change): network = (network + [change]).suffix(Self.networkMax)
        case .sync(let asked): round = max(asked, round ?? asked)
        case .syncCollection(let collection, let asked):
            collectionRounds[collection] = max(asked, collectionRounds[collection] ?? asked)
        case .watch(let scopes): watched = scopes
        case .say(let message): said = (said + [message]).suffix(Self.saidMax)
        case .history(let key):
            if histories.count < Self.historiesMax, !histories.contains(key) { histories.append(key) }
        case .compare: compares = true
        // Those are no requests: they are delivered.
        case .tick, .opened, .openFailed, .lost, .closed, .arrived, .pushLoaded, .pagesLoaded,
            .historyLoaded, .comparisonLoaded, .compared, .applied, .confirmed, .applyFailed, .forkFound,
            .tokenRefreshed, .tokenFailed:
            break
        }
    }

    /// The requests in the order in which the machine needs them.
    var events: [SyncEvent] {
        var events: [SyncEvent] = []
        if let wanted { events.append(wanted) }
        if wrote { events.append(.wrote) }
        if wantsPages { events.append(.wantsPages) }
        events += network.map { .network($0) }
        if let round { events.append(.sync(round: round)) }
        for (collection, round) in collectionRounds.sorted(by: { $0.value < $1.value }) {
            events.append(.syncCollection(collection, round: round))
        }
        if let watched { events.append(.watch(watched)) }
        events += said.map { .say($0) }
        events += histories.map { .history($0) }
        if compares { events.append(.compare) }
        return events
    }
}
