import TidemarkModel

extension Hub {
    /// Updates the indices for one session.
    mutating func take(_ note: Session.IndexNote, of id: SessionID, in workspace: WorkspaceID) {
        for change in note.changes {
            workspaces[workspace]?.attendance.note(change.scope)
            if change.isMember {
                workspaces[workspace]?.byScope[change.scope, default: []].insert(id)
            } else {
                leave(change.scope, id, workspace)
                workspaces[workspace]?.attendance.unwatch(change.scope, by: id)
            }
        }
        switch note.isBehind {
        case true?: workspaces[workspace]?.behind.insert(id)
        case false?: workspaces[workspace]?.behind.remove(id)
        case nil: break
        }
        if note.isClosed, let session = sessions[id] { forget(session) }
    }

    /// Enters a welcomed session into the indices, and ends an older connection of the same client.
    mutating func enter(_ session: Session, _ workspace: WorkspaceID, into effects: inout [SessionEffect]) {
        guard let user = session.identity?.principal.user else { return }
        if workspaces[workspace]?.byClient[session.client] != session.id {
            superseded(session.client, in: workspace, into: &effects)
        }
        workspaces[workspace]?.byClient[session.client] = session.id
        workspaces[workspace]?.byUser[user, default: []].insert(session.id)
        workspaces[workspace]?.attendance.came(user)
    }

    /// Removes a session from every index.
    mutating func forget(_ session: Session) {
        guard let identity = session.identity, workspaces[identity.workspace] != nil else { return }
        let workspace = identity.workspace
        for scope in session.grants.keys {
            leave(scope, session.id, workspace)
            workspaces[workspace]?.attendance.note(scope)
        }
        workspaces[workspace]?.attendance.unwatchAll(by: session.id)
        let user = identity.principal.user
        workspaces[workspace]?.byUser[user]?.remove(session.id)
        if workspaces[workspace]?.byUser[user]?.isEmpty == true {
            workspaces[workspace]?.byUser[user] = nil
            left(session, user, in: workspace)
        }
        if workspaces[workspace]?.byClient[session.client] == session.id {
            workspaces[workspace]?.byClient[session.client] = nil
        }
        workspaces[workspace]?.behind.remove(session.id)
    }

    private mutating func leave(_ scope: ScopeID, _ id: SessionID, _ workspace: WorkspaceID) {
        workspaces[workspace]?.byScope[scope]?.remove(id)
        if workspaces[workspace]?.byScope[scope]?.isEmpty == true { workspaces[workspace]?.byScope[scope] = nil }
    }
}
