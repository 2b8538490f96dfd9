package import TidemarkModel
package import TidemarkStore
package import TidemarkWire

/// Where a client that comes back stands against a snapshot: what it keeps, drops and must fill. The same for the welcome
/// on a connection and for a pull over HTTP.
package struct Standpoint: Hashable, Sendable {
    /// What became of its cursor.
    package let state: Welcome.CursorState
    /// Where its changes begin: its own cursor, or the head.
    package let position: Head
    package let kept: [HeldScope]
    package let purged: [ScopeID]
    /// Newest grant first.
    package let added: [Changes.GrantChange]
    /// Every grant that it has from here on.
    package let grants: [ScopeID: Grant]

    /// - Parameters:
    ///   - cursor: as the client sent it; `nil` for an empty copy.
    ///   - held: what the client says that it holds.
    ///   - snapshot: with the batch that holds the cursor's number.
    package init(
        cursor: String?, held scopes: [HeldScope], snapshot: SessionSnapshot, workspace: WorkspaceID,
        context: SessionContext
    ) {
        let place = context.place(of: cursor, in: workspace)
        if cursor == nil {
            state = .none
        } else if let place, place.seq <= snapshot.head.seq, place.seq >= snapshot.horizon,
            place.isOfHistory(holding: snapshot.lineage)
        {
            // the batch that holds the cursor's number has the cursor's nonce, or the cursor is the beginning. And
            // every deletion since then is known.
            state = .ok
        } else {
            state = .resync
        }
        position = state == .ok ? place ?? snapshot.head : snapshot.head
        let grants = context.held(snapshot.grants)
        var kept: [HeldScope] = []
        var purged: [ScopeID] = []
        var keptScopes: Set<ScopeID> = []
        for held in scopes where !keptScopes.contains(held.scope) {
            if state == .ok, grants[held.scope]?.since == held.since {
                kept.append(held)
                keptScopes.insert(held.scope)
            } else {
                purged.append(held.scope)
            }
        }
        added = grants.values.filter { !keptScopes.contains($0.scope) }
            .sorted { ($0.since, $0.scope) > ($1.since, $1.scope) }
            .map { .init(scope: $0.scope, since: $0.since, role: $0.role) }
        self.kept = kept
        self.purged = purged
        self.grants = grants
    }
}

extension SessionContext {
    /// The place that a client's cursor names; `nil` when there is none, or when it is not one of ours.
    package func place(of cursor: String?, in workspace: WorkspaceID) -> Head? {
        cursor.flatMap { seal.open($0, workspace: workspace.text) }
    }

    /// The user's grants that fit on one connection, newest first, after the shared scopes.
    package func held(_ grants: [Grant]) -> [ScopeID: Grant] {
        var held: [ScopeID: Grant] = [:]
        for grant in sharedGrants + grants where held.count < limits.scopesMax {
            held[grant.scope] = grant
        }
        return held
    }
}
