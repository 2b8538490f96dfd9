import DequeModule
import TidemarkModel

/// The times at which users left, for each scope that they held then. Bounded: the oldest departures are forgotten
/// first.
struct Departures: Sendable {
    private struct Departure: Sendable {
        let user: UserID
        let scopes: Set<ScopeID>
        let time: Milliseconds
    }

    private let entriesMax: Int
    private var times: [ScopeID: [UserID: Milliseconds]] = [:]
    private var order = Deque<Departure>()
    private var entries = 0

    /// - Parameter entriesMax: the maximum number of pairs of user and scope that are kept.
    init(entriesMax: Int) { self.entriesMax = entriesMax }

    /// The times at which users left the scope's connections.
    subscript(scope: ScopeID) -> [UserID: Milliseconds] { times[scope] ?? [:] }

    mutating func note(_ user: UserID, from scopes: Set<ScopeID>, at time: Milliseconds) {
        guard !scopes.isEmpty else { return }
        for scope in scopes where times[scope, default: [:]].updateValue(time, forKey: user) == nil { entries += 1 }
        order.append(Departure(user: user, scopes: scopes, time: time))
        // A user who comes and goes leaves entries in the queue that a later one has replaced; they are included in the
        // bound.
        while entries > entriesMax || order.count > entriesMax { dropFirst() }
    }

    /// Removes a user who is no longer a member.
    mutating func remove(_ user: UserID, from scope: ScopeID) {
        guard times[scope]?.removeValue(forKey: user) != nil else { return }
        entries -= 1
        if times[scope]?.isEmpty == true { times[scope] = nil }
    }

    private mutating func dropFirst() {
        guard let first = order.popFirst() else { return }
        for scope in first.scopes where times[scope]?[first.user] == first.time { remove(first.user, from: scope) }
    }
}
