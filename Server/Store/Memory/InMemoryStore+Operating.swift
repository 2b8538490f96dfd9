import TidemarkLock
package import TidemarkModel

extension InMemoryStore: ActLog {
    package func begin(_ act: OperatorAct) async throws(StoreError) -> Int64 {
        tables.withLock { tables in
            var act = act
            act.number = (tables.acts.last?.number ?? 0) + 1
            tables.acts.removeAll { $0.number <= act.number - OperatorAct.keptMax }
            tables.acts.append(act)
            return act.number
        }
    }

    package func end(_ number: Int64, _ outcome: String) async throws(StoreError) {
        tables.withLock { tables in
            guard let index = tables.acts.firstIndex(where: { $0.number == number }) else { return }
            tables.acts[index].outcome = outcome
        }
    }

    package func acts(before number: Int64, limit: Int) async throws(StoreError) -> [OperatorAct] {
        tables.withLock { $0.acts.reversed().filter { $0.number < number }.prefix(max(0, limit)).map(\.self) }
    }
}

extension InMemoryStore: Inspecting {
    package func workspaces(after position: WorkspaceID?, limit: Int) async throws(StoreError) -> [WorkspaceFigures] {
        tables.withLock { tables in
            tables.workspaces.filter { workspace, _ in position.map { workspace > $0 } ?? true }
                .sorted { $0.key < $1.key }.prefix(max(0, limit)).map { $1.figures(of: $0) }
        }
    }

    package func records(_ id: LocalID, in workspace: WorkspaceID) async throws(StoreError) -> [StoredRecord] {
        tables.withLock { tables in
            (tables.workspaces[workspace]?.records.values.filter { $0.key.id == id } ?? []).sorted { $0.key < $1.key }
        }
    }

    package func endedMemberships(
        of user: UserID, scope: ScopeID?, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> [EndedMembership] {
        tables.withLock { tables in
            let found = tables.workspaces[workspace]?.endedMemberships.filter { membership in
                membership.user == user && (scope.map { membership.scope == $0 } ?? true)
            }
            return Array((found ?? []).sorted { ($1.ended, $0.scope) < ($0.ended, $1.scope) }.prefix(max(0, limit)))
        }
    }

    package func followers(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError) -> [UInt64] {
        tables.withLock { $0.workspaces[workspace]?.listeners.nodes(at: now) ?? [] }
    }
}

extension WorkspaceTables {
    fileprivate func figures(of workspace: WorkspaceID) -> WorkspaceFigures {
        let first = batches.suffix(WorkspaceFigures.recentBatches).first
        return WorkspaceFigures(
            workspace: workspace, head: head, horizon: horizon,
            members: min(grants.values.map(\.count).reduce(0, +), WorkspaceFigures.membersMax),
            recent: first.map { ($0.low, $0.head.time) })
    }

    /// Records the end of a membership.
    mutating func note(endOf change: MembershipChange) {
        guard change.role == nil, let grant = grants[change.user]?[change.scope] else { return }
        endedMemberships.append(
            EndedMembership(
                user: change.user, scope: change.scope, role: grant.role, since: grant.since, ended: change.seq))
    }
}
