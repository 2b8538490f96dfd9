package import TidemarkModel
package import TidemarkStore
package import TidemarkWire

/// Where a client that comes back stands against a snapshot: what it keeps, drops and must fill. The same for the welcome
/// on a connection and for a pull over HTTP.
package struct Standpoint: Hashable, Sendable {
    /// What became of its cursor.
    package let state: Welcome.CursorState
    /// Where its changes begin: its own cursor, the past one that it goes back to, or the head.
    package let position: Head
    /// The end that was looked at for what it has, where it goes on in the middle of catching up.
    package let looked: Head?
    /// The cursor of that position. On `ok` it is the text that the client sent: a client compares bytes, and another key would
    /// seal the same place as other bytes.
    package let cursor: String
    /// How far back it goes, where it does.
    package let rewind: Welcome.Rewind?
    package let kept: [HeldScope]
    package let purged: [ScopeID]
    /// Newest grant first.
    package let added: [Changes.GrantChange]
    /// Kept scopes in which the user has another role than the client said.
    package let changed: [Changes.GrantChange]
    /// Every grant that it has from here on.
    package let grants: [ScopeID: Grant]
    /// How many more the user has.
    package let leftOut: Int

    /// - Parameters:
    ///   - sent: the cursor as the client sent it; `nil` for an empty copy.
    ///   - ends: its past cursors, as it sent them.
    ///   - held: what the client says that it holds.
    ///   - roles: the role that it knows in each of these; `nil` where it does not tell.
    ///   - knowsBehind: the client can compare what it holds where deletions are forgotten.
    ///   - snapshot: with the batch that holds the number of the cursor's proof.
    ///   - common: the newest of `ends` that is of the stored history, where the cursor is not.
    package init(
        cursor sent: String?, ends: [String] = [], held scopes: [HeldScope], roles: [Role]? = nil,
        knowsBehind: Bool = false, snapshot: SessionSnapshot, common: Head? = nil, workspace: WorkspaceID,
        context: SessionContext
    ) {
        let found = context.read(sent, in: workspace)
        let place = found?.head
        var rewind: Welcome.Rewind?
        if sent == nil {
            state = .none
        } else if let found, found.proof.seq <= snapshot.head.seq, found.head.seq >= snapshot.horizon,
            found.proof.isOfHistory(holding: snapshot.lineage)
        {
            // the batch that holds the cursor's number has the cursor's nonce, or the cursor is the beginning; in the
            // middle of catching up that of the end that was looked at, which is behind it in the same history. And every
            // deletion since then is known.
            state = .ok
        } else if knowsBehind, let place, place.seq < snapshot.horizon, snapshot.lost == nil {
            // Nothing that it was told is known to be lost. That it has is not proved, and need not be: it is compared.
            state = .behind
        } else {
            let end = ends.first { common != nil && context.place(of: $0, in: workspace) == common }
            state = end == nil ? .resync : .rewound
            if let end, let common { rewind = Welcome.Rewind(to: common.seq, end: end) }
        }
        self.rewind = rewind
        looked = state == .ok ? found?.looked : nil
        position =
            switch state {
            case .ok: place ?? snapshot.head
            case .rewound: common ?? snapshot.head
            case .none, .resync, .behind: snapshot.head
            }
        let sealed = state == .ok ? sent : nil
        cursor = sealed ?? context.seal.cursor(position, workspace: workspace.text)
        // A grant of the lost history may have the number of another one in this.
        let grantMax = rewind?.to ?? .max
        let grants = context.held(snapshot.grants)
        var kept: [HeldScope] = []
        var purged: [ScopeID] = []
        var changed: [Changes.GrantChange] = []
        var keptScopes: Set<ScopeID> = []
        for (index, held) in scopes.enumerated() where !keptScopes.contains(held.scope) {
            let mayKeep = state != .none && state != .resync && held.since <= grantMax
            if mayKeep, let grant = grants[held.scope], grant.since == held.since {
                kept.append(held)
                if let roles, roles.indices.contains(index), roles[index] != grant.role {
                    changed.append(.init(scope: grant.scope, since: grant.since, role: grant.role))
                }
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
        self.changed = changed
        self.grants = grants
        leftOut = context.leftOut(snapshot.grants)
    }
}

extension SessionContext {
    /// The place that a client's cursor names; `nil` when there is none, or when it is not one of ours.
    package func place(of cursor: String?, in workspace: WorkspaceID) -> Head? { read(cursor, in: workspace)?.head }

    /// All that a client's cursor says; `nil` when there is none, or when it is not one of ours.
    package func read(_ cursor: String?, in workspace: WorkspaceID) -> CursorPlace? {
        cursor.flatMap { seal.read($0, workspace: workspace.text) }
    }

    /// The user's grants that fit on one connection, newest first, after the shared scopes.
    package func held(_ grants: [Grant]) -> [ScopeID: Grant] {
        var held: [ScopeID: Grant] = [:]
        for grant in sharedGrants + grants where held.count < limits.scopesMax {
            held[grant.scope] = grant
        }
        return held
    }

    /// How many scopes of the user's are beyond what fits on one connection.
    package func leftOut(_ grants: [Grant]) -> Int {
        guard sharedGrants.count + grants.count > limits.scopesMax else { return 0 }
        return max(0, Set((sharedGrants + grants).map(\.scope)).count - limits.scopesMax)
    }
}
