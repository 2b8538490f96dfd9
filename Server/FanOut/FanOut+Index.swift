import TidemarkModel
import TidemarkSession

extension FanOut {
    /// Runs one event on a session and takes over what it changed.
    mutating func update(
        _ id: SessionID, into effects: inout [SessionEffect],
        _ event: (inout Session, Ring?, inout [SessionEffect]) -> Void
    ) {
        guard let workspace = sessions[id].map({ $0.identity?.workspace }) else { return }
        let ring = workspace.flatMap { tides[$0]?.ring }
        event(&sessions[id, default: Session(id: id, context: context, headerToken: nil, now: 0)], ring, &effects)
        guard let workspace else { return }
        settleIndex(of: id, in: workspace)
    }

    /// Brings the indices up to date with one session.
    mutating func settleIndex(of id: SessionID, in workspace: WorkspaceID) {
        guard let session = sessions[id] else { return }
        if !session.indexChanges.isEmpty {
            for change in session.indexChanges {
                if change.isMember {
                    tides[workspace]?.byScope[change.scope, default: []].insert(id)
                } else {
                    leave(change.scope, id, workspace)
                }
            }
            sessions[id]?.indexChanges = []
        }
        if session.isStreaming, !session.isLive || session.holdsPages {
            tides[workspace]?.behind.insert(id)
        } else {
            tides[workspace]?.behind.remove(id)
        }
        if session.isClosed { forget(session) }
    }

    /// A session was welcomed: it takes part from now on, and an older connection of the same client ends.
    mutating func enter(_ session: Session, _ workspace: WorkspaceID, into effects: inout [SessionEffect]) {
        guard let user = session.identity?.principal.user else { return }
        if tides[workspace]?.byClient[session.client] != session.id {
            superseded(session.client, in: workspace, into: &effects)
        }
        tides[workspace]?.byClient[session.client] = session.id
        tides[workspace]?.byUser[user, default: []].insert(session.id)
    }

    /// Takes a session out of every index.
    mutating func forget(_ session: Session) {
        guard let identity = session.identity, tides[identity.workspace] != nil else { return }
        let workspace = identity.workspace
        for scope in session.grants.keys { leave(scope, session.id, workspace) }
        let user = identity.principal.user
        tides[workspace]?.byUser[user]?.remove(session.id)
        if tides[workspace]?.byUser[user]?.isEmpty == true { tides[workspace]?.byUser[user] = nil }
        if tides[workspace]?.byClient[session.client] == session.id { tides[workspace]?.byClient[session.client] = nil }
        tides[workspace]?.behind.remove(session.id)
    }

    private mutating func leave(_ scope: ScopeID, _ id: SessionID, _ workspace: WorkspaceID) {
        tides[workspace]?.byScope[scope]?.remove(id)
        if tides[workspace]?.byScope[scope]?.isEmpty == true { tides[workspace]?.byScope[scope] = nil }
    }
}
