import TidemarkModel
import TidemarkWire

/// Presence: sent by the server alone, to the clients that asked for a scope's. Messages are sent in `tick`, so that a
/// user who comes and goes within a second causes one.
extension Hub {
    /// Handles a client's request for presence; a lifetime of 0 ends it.
    mutating func watch(
        _ message: Ephemeral, by id: SessionID, in workspace: WorkspaceID, into effects: inout [SessionEffect]
    ) {
        let scope = message.scope
        guard message.lifetime > 0 else {
            workspaces[workspace]?.attendance.unwatch(scope, by: id)
            return
        }
        // All users of the workspace are in a shared scope.
        guard !context.sharedGrants.contains(where: { $0.scope == scope }) else { return counts.refused += 1 }
        guard let isFirst = workspaces[workspace]?.attendance.watch(scope, by: id, now: clock, limits: limits) else {
            return counts.refused += 1
        }
        if isFirst {
            let state = workspaces[workspace]?.attendance.state(of: scope, own: report(of: scope, in: workspace))
            workspaces[workspace]?.attendance.told(scope, state ?? [:])
            effects.append(.tell(workspace, .ask(scope)))
        }
        tellAll(of: scope, to: id, in: workspace, into: &effects)
    }

    /// Handles the request of another machine that watches the scope: reports presence to it, now and for a while.
    mutating func asked(_ scope: ScopeID, in workspace: WorkspaceID, into effects: inout [SessionEffect]) {
        guard workspaces[workspace] != nil else { return }
        workspaces[workspace]?.attendance.asked[scope] = clock + limits.presenceAskedFor
        let report = report(of: scope, in: workspace)
        if !report.isEmpty { effects.append(.tell(workspace, .present(scope, report))) }
    }

    /// Sends changes of presence to watchers and other machines, as time passes.
    mutating func tickPresence(in workspace: WorkspaceID, into effects: inout [SessionEffect]) {
        guard workspaces[workspace]?.attendance.isIdle == false else { return }
        workspaces[workspace]?.attendance.settle(upTo: clock - limits.presenceGrace)
        workspaces[workspace]?.attendance.expire(before: clock - limits.presenceAskedFor, now: clock)
        for scope in workspaces[workspace]?.attendance.due(now: clock, every: limits.presenceAskEvery) ?? [] {
            effects.append(.tell(workspace, .ask(scope)))
        }
        for scope in (workspaces[workspace]?.attendance.takeChanged() ?? []).sorted() {
            let report = report(of: scope, in: workspace)
            if workspaces[workspace]?.attendance.asked[scope] != nil {
                effects.append(.tell(workspace, .present(scope, report)))
            }
            tellChanges(of: scope, report, in: workspace, into: &effects)
        }
        for id in (workspaces[workspace]?.attendance.owed ?? []).sorted() {
            workspaces[workspace]?.attendance.owed.remove(id)
            for scope in (workspaces[workspace]?.attendance.scopesOf[id] ?? []).sorted() {
                tellAll(of: scope, to: id, in: workspace, into: &effects)
            }
        }
    }

    /// Handles the end of a user's last connection here.
    mutating func left(_ session: Session, _ user: UserID, in workspace: WorkspaceID) {
        guard session.identity?.principal.isService == false else { return }
        // A session that is behind may have lost scopes that it still holds.
        let scopes = session.isLive ? session.grants.values.filter { $0.since > 0 }.map(\.scope) : []
        workspaces[workspace]?.attendance.went(user, from: Set(scopes), at: clock)
    }

    // MARK: Messages

    private mutating func tellChanges(
        of scope: ScopeID, _ own: PresenceReport, in workspace: WorkspaceID, into effects: inout [SessionEffect]
    ) {
        guard let watch = workspaces[workspace]?.attendance.watches[scope],
            let state = workspaces[workspace]?.attendance.state(of: scope, own: own)
        else { return }
        workspaces[workspace]?.attendance.told(scope, state)
        let users = Set(state.keys).union(watch.told.keys).filter { state[$0] != watch.told[$0] }.sorted()
        for user in users.prefix(limits.presenceUsersMax) {
            let frame = Frame((state[user] ?? .unknown).word(of: user, in: scope).encode())
            for id in watch.sessions { say(frame, in: scope, to: id, workspace, into: &effects) }
        }
    }

    private mutating func tellAll(
        of scope: ScopeID, to id: SessionID, in workspace: WorkspaceID, into effects: inout [SessionEffect]
    ) {
        let own = report(of: scope, in: workspace)
        guard let state = workspaces[workspace]?.attendance.state(of: scope, own: own) else { return }
        for (user, presence) in state.sorted(by: { $0.key < $1.key }).prefix(limits.presenceUsersMax) {
            let frame = Frame(presence.word(of: user, in: scope).encode())
            guard say(frame, in: scope, to: id, workspace, into: &effects) else { return }
        }
    }

    @discardableResult
    private mutating func say(
        _ frame: Frame, in scope: ScopeID, to id: SessionID, _ workspace: WorkspaceID,
        into effects: inout [SessionEffect]
    ) -> Bool {
        if withSession(id, { $0.hear(frame, in: scope, into: &effects) }) == true {
            counts.delivered += 1
            return true
        }
        counts.undelivered += 1
        workspaces[workspace]?.attendance.owed.insert(id)
        return false
    }

    /// Returns what this machine knows from its own connections; empty for a scope with very many of them.
    private func report(of scope: ScopeID, in workspace: WorkspaceID) -> PresenceReport {
        var report = PresenceReport(machine: name, online: [], seen: [:])
        guard let state = workspaces[workspace] else { return report }
        let ids = state.byScope[scope] ?? []
        guard ids.count <= limits.presenceSessionsMax else { return report }
        for id in ids {
            guard let index = sessions.index(forKey: id), let principal = sessions.values[index].identity?.principal,
                !principal.isService
            else { continue }
            report.online.insert(principal.user)
        }
        for (user, left) in state.attendance.leaving where left.scopes.contains(scope) { report.online.insert(user) }
        report.seen = state.attendance.departures[scope].filter { !report.online.contains($0.key) }
        return report
    }
}
