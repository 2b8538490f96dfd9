import TidemarkLock
package import TidemarkModel

/// The contract in memory, for tests and trials: nothing outlives the process.
package final class InMemoryStore: Store {
    let tables: Lock<MemoryTables>

    package init(_ tables: MemoryTables = MemoryTables()) { self.tables = Lock(tables) }

    /// The present tables.
    package var snapshot: MemoryTables { tables.withLock { $0 } }

    /// Replaces the tables, by an earlier snapshot or others, while the store is in use.
    package func restore(_ snapshot: MemoryTables) { tables.withLock { $0 = snapshot } }

    package func read(_ reads: ReadSet, in workspace: WorkspaceID) async throws(StoreError) -> Reading {
        try check(workspace)
        return Reading(tables.withLock { $0.read(reads, in: workspace) })
    }

    package func commit(
        _ planned: PlannedBatch, in workspace: WorkspaceID
    ) async throws(StoreError) -> Commitment {
        try check(workspace)
        return try tables.withLock { tables throws(StoreError) in try tables.commit(planned, in: workspace) }
    }

    package func register(
        _ client: ClientID, for user: UserID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> Registration {
        try check(workspace)
        return tables.withLock { $0.register(client, for: user, in: workspace, now: now) }
    }

    package func clients(
        of user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> [RegisteredClient] {
        tables.withLock { $0.clients(of: user, in: workspace) }
    }

    package func saw(
        _ clients: [SeenClient], in workspace: WorkspaceID
    ) async throws(StoreError) -> Set<ClientID> {
        tables.withLock { $0.saw(clients, in: workspace) }
    }

    package func session(
        for user: UserID, client: ClientID?, holding seq: SequenceNumber?, in workspace: WorkspaceID
    ) async throws(StoreError) -> SessionSnapshot {
        try check(workspace)
        return tables.withLock { $0.session(for: user, client: client, holding: seq, in: workspace) }
    }

    package func batch(holding seq: SequenceNumber, in workspace: WorkspaceID) async throws(StoreError) -> Head? {
        tables.withLock { $0.batch(holding: seq, in: workspace) }
    }

    package func changedScopes(
        among scopes: [ScopeID], after seq: SequenceNumber, in workspace: WorkspaceID
    ) async throws(StoreError) -> [ScopeID] {
        try tables.withLock { tables throws(StoreError) in
            try tables.changedScopes(among: scopes, after: seq, in: workspace)
        }
    }

    package func window(
        scopes: [ScopeID], after seq: SequenceNumber, span: Int64, in workspace: WorkspaceID
    ) async throws(StoreError) -> Window {
        try tables.withLock { tables throws(StoreError) in
            try tables.window(scopes: scopes, after: seq, span: span, in: workspace)
        }
    }

    package func page(
        scope: ScopeID, collection: String, before: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> Page {
        tables.withLock {
            $0.page(scope: scope, collection: collection, before: before, limit: limit, in: workspace)
        }
    }

    package func page(
        scope: ScopeID, collection: String, ids: [LocalID], limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> Page {
        tables.withLock { $0.page(scope: scope, collection: collection, ids: ids, limit: limit, in: workspace) }
    }

    package func history(
        of key: RecordKey, scope: ScopeID, before: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> LedgerPage {
        tables.withLock { $0.history(of: key, scope: scope, before: before, limit: limit, in: workspace) }
    }

    package func follow(
        _ workspace: WorkspaceID, node: UInt64, now: Milliseconds
    ) async throws(StoreError) -> Head {
        try check(workspace)
        return tables.withLock { $0.follow(workspace, node: node, now: now) }
    }

    package func unfollow(_ workspace: WorkspaceID, node: UInt64) async throws(StoreError) {
        tables.withLock { $0.unfollow(workspace, node: node) }
    }

    package func tail(
        after seq: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> TailRead {
        tables.withLock { $0.tail(after: seq, limit: limit, in: workspace) }
    }

    package func raiseEpoch(
        _ raise: EpochRaise, in workspace: WorkspaceID
    ) async throws(StoreError) -> EpochOutcome {
        try check(workspace)
        return try tables.withLock { tables throws(StoreError) in try tables.raiseEpoch(raise, in: workspace) }
    }

    package func lineage(of workspace: WorkspaceID) async throws(StoreError) -> [EpochStart] {
        tables.withLock { $0.lineage(of: workspace) }
    }

    private func check(_ workspace: WorkspaceID) throws(StoreError) {
        if tables.withLock({ $0.erased.contains(workspace) }) { throw .erasedWorkspace }
    }

    package func probe() async throws(StoreError) {}
}
