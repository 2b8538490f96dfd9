import TidemarkModel

/// The presence of users in one workspace, as one machine knows it. Its sources are its own connections, and other
/// machines' reports of the scopes that are watched here. It is in memory only, and never more than a good guess: a
/// restart forgets it.
struct Attendance: Sendable {
    /// A scope that sessions here watch.
    struct Watch: Sendable {
        var sessions: Set<SessionID> = []
        /// The reports of other machines, with the time of each report.
        var reports: [String: (report: PresenceReport, at: Milliseconds)] = [:]
        /// The state last sent to the watchers.
        var told: [UserID: Presence] = [:]
        var askedAt: Milliseconds
    }

    /// A user whose last connection here ended recently, and who remains online for a moment.
    struct Leaving: Sendable {
        let since: Milliseconds
        var scopes: Set<ScopeID>
    }

    private(set) var watches: [ScopeID: Watch] = [:]
    private(set) var scopesOf: [SessionID: Set<ScopeID>] = [:]
    /// Scopes that other machines watch, and the time until which they do.
    var asked: [ScopeID: Milliseconds] = [:]
    private(set) var leaving: [UserID: Leaving] = [:]
    var departures: Departures
    /// Scopes, watched here or elsewhere, in which the presence has changed.
    private(set) var changed: Set<ScopeID> = []
    /// Watchers that missed a message because they were behind.
    var owed: Set<SessionID> = []

    init(limits: HubLimits) { departures = Departures(entriesMax: limits.departuresMax) }

    /// True when a tick has nothing to check.
    var isIdle: Bool { watches.isEmpty && asked.isEmpty && leaving.isEmpty }

    mutating func note(_ scope: ScopeID) {
        if watches[scope] != nil || asked[scope] != nil { changed.insert(scope) }
    }

    mutating func takeChanged() -> Set<ScopeID> {
        defer { changed = [] }
        return changed
    }

    // MARK: Coming and going

    mutating func came(_ user: UserID) {
        guard let left = leaving.removeValue(forKey: user) else { return }
        for scope in left.scopes { note(scope) }
    }

    mutating func went(_ user: UserID, from scopes: Set<ScopeID>, at time: Milliseconds) {
        leaving[user] = Leaving(since: time, scopes: scopes)
    }

    /// Records the departure of the users whose moment has passed.
    mutating func settle(upTo time: Milliseconds) {
        for (user, left) in leaving where left.since <= time {
            leaving[user] = nil
            departures.note(user, from: left.scopes, at: left.since)
            for scope in left.scopes { note(scope) }
        }
    }

    /// Removes the presence of a user who is no longer a member of the scope.
    mutating func expelled(_ user: UserID, from scope: ScopeID) {
        departures.remove(user, from: scope)
        leaving[user]?.scopes.remove(scope)
        note(scope)
    }

    /// Forgets the departures: memberships may have changed unseen.
    mutating func forgetDepartures(limits: HubLimits) {
        departures = Departures(entriesMax: limits.departuresMax)
        let left = leaving.values.flatMap(\.scopes)
        leaving = [:]
        for scope in left { note(scope) }
    }

    // MARK: Watching

    /// Adds a watcher. Returns true for the first one here, which makes the hub ask the other machines; `nil` if it
    /// exceeds `limits`.
    mutating func watch(_ scope: ScopeID, by id: SessionID, now: Milliseconds, limits: HubLimits) -> Bool? {
        guard scopesOf[id]?.contains(scope) == true || scopesOf[id, default: []].count < limits.presenceScopesMax
        else { return nil }
        scopesOf[id, default: []].insert(scope)
        let isFirst = watches[scope] == nil
        watches[scope, default: Watch(askedAt: now)].sessions.insert(id)
        return isFirst
    }

    mutating func unwatch(_ scope: ScopeID, by id: SessionID) {
        scopesOf[id]?.remove(scope)
        if scopesOf[id]?.isEmpty == true {
            scopesOf[id] = nil
            owed.remove(id)
        }
        watches[scope]?.sessions.remove(id)
        if watches[scope]?.sessions.isEmpty == true { watches[scope] = nil }
    }

    mutating func unwatchAll(by id: SessionID) {
        for scope in scopesOf[id] ?? [] { unwatch(scope, by: id) }
    }

    mutating func told(_ scope: ScopeID, _ state: [UserID: Presence]) { watches[scope]?.told = state }

    /// Returns the scopes for which to ask the other machines again.
    mutating func due(now: Milliseconds, every period: Int64) -> [ScopeID] {
        let due = watches.filter { now - $0.value.askedAt >= period }.map(\.key)
        for scope in due { watches[scope]?.askedAt = now }
        return due.sorted()
    }

    // MARK: Other machines

    mutating func heard(_ report: PresenceReport, of scope: ScopeID, now: Milliseconds) {
        guard watches[scope] != nil else { return }
        watches[scope]?.reports[report.machine] = (report, now)
        changed.insert(scope)
    }

    /// Expires machines without a recent report, with their users as of the last report.
    mutating func expire(before time: Milliseconds, now: Milliseconds) {
        asked = asked.filter { $0.value > now }
        for (scope, watch) in watches {
            for (machine, entry) in watch.reports where entry.at < time && !entry.report.online.isEmpty {
                var report = entry.report
                for user in report.online { report.seen[user] = entry.at }
                report.online = []
                watches[scope]?.reports[machine] = (report, entry.at)
                changed.insert(scope)
            }
        }
    }

    /// Returns what all machines together know of a scope, including this machine's own report.
    func state(of scope: ScopeID, own: PresenceReport) -> [UserID: Presence] {
        let reports = [own] + (watches[scope]?.reports.values.map(\.report) ?? [])
        var state: [UserID: Presence] = [:]
        var seen: [UserID: Milliseconds] = [:]
        for report in reports { seen.merge(report.seen) { max($0, $1) } }
        for (user, time) in seen { state[user] = .seen(time) }
        for report in reports { for user in report.online { state[user] = .online } }
        return state
    }
}
