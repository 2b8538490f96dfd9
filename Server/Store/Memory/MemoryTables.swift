package import TidemarkModel

/// All tables of one store as a value: pure, synchronous, and snapshotted by copying it.
///
/// A simulator can put a fault between a `read` and a `write`, or after them. Copies share storage until one of them is
/// written.
package struct MemoryTables: Sendable {
    private let limits: StoreLimits
    var workspaces: [WorkspaceID: WorkspaceTables] = [:]
    /// The erased workspaces.
    var erased: Set<WorkspaceID> = []
    var revoked = MemoryRevocations()
    /// The acts of operators, the newest last.
    var acts: [OperatorAct] = []

    package init(limits: StoreLimits = StoreLimits()) { self.limits = limits }

    /// See `Store.read`.
    package func read(_ reads: ReadSet, in workspace: WorkspaceID) -> OrderState {
        workspaces[workspace]?.read(reads) ?? OrderState(head: .start)
    }

    /// See `Store.commit`; `writer` is the one of ``write(_:in:by:)``.
    package mutating func commit(
        _ planned: PlannedBatch, in workspace: WorkspaceID, by writer: UInt64? = nil
    ) throws(StoreError) -> Commitment {
        guard workspaces[workspace]?.holds(planned) ?? (planned.base == .start) else { return .moved }
        let isHeard = workspaces[workspace]?.listeners.isHeard(at: planned.batch.head.time) ?? false
        try write(planned.batch, in: workspace, by: writer)
        return .written(isHeard: isHeard)
    }

    /// Returns the stored state of those clients that are registered.
    package func storedClients(_ ids: [ClientID], in workspace: WorkspaceID) -> [StoredClient] {
        ids.compactMap { workspaces[workspace]?.clients[$0] }
    }

    /// Writes a whole batch, or nothing when it throws.
    ///
    /// - Parameter writer: the node that committed the batch and needs no body; with `nil` the body is kept for all
    ///   followers.
    /// - Throws: kind `invariant` for a batch that does not tile, that moves a record to another scope or birth, or
    ///   that takes back a settled number.
    package mutating func write(
        _ batch: CommittedBatch, in workspace: WorkspaceID, by writer: UInt64? = nil
    ) throws(StoreError) {
        try workspaces[workspace, default: WorkspaceTables()].write(batch, by: writer, limits: limits)
    }

    /// Returns every record and tombstone of a workspace, in the order of their creation.
    package func records(in workspace: WorkspaceID) -> [StoredRecord] {
        (workspaces[workspace]?.records.values).map { $0.sorted { $0.born < $1.born } } ?? []
    }

    /// See `Store.register`.
    package mutating func register(
        _ client: ClientID, for user: UserID, in workspace: WorkspaceID, now: Milliseconds
    ) -> Registration {
        workspaces[workspace, default: WorkspaceTables()].register(client, for: user, now: now, limits: limits)
    }

    /// See `Store.clients`.
    package func clients(of user: UserID, in workspace: WorkspaceID) -> [RegisteredClient] {
        workspaces[workspace]?.clients(of: user, limits: limits) ?? []
    }

    /// See `Store.saw`.
    package mutating func saw(_ clients: [SeenClient], in workspace: WorkspaceID) -> Set<ClientID> {
        workspaces[workspace]?.saw(clients) ?? []
    }

    /// See `Store.session`.
    package func session(
        for user: UserID, client: ClientID?, holding seq: SequenceNumber? = nil, in workspace: WorkspaceID
    ) -> SessionSnapshot {
        workspaces[workspace]?.session(for: user, client: client, holding: seq) ?? SessionSnapshot(head: .start)
    }

    /// See `Store.batch(holding:in:)`.
    package func batch(holding seq: SequenceNumber, in workspace: WorkspaceID) -> Head? {
        workspaces[workspace]?.batch(holding: seq)
    }

    /// See `Store.changedScopes`.
    package func changedScopes(
        among scopes: [ScopeID], after seq: SequenceNumber, in workspace: WorkspaceID
    ) throws(StoreError) -> [ScopeID] {
        try workspaces[workspace]?.changedScopes(among: scopes, after: seq) ?? []
    }

    /// See `Store.window`.
    package func window(
        scopes: [ScopeID], after seq: SequenceNumber, span: Int64, in workspace: WorkspaceID
    ) throws(StoreError) -> Window {
        try workspaces[workspace]?.window(scopes: scopes, after: seq, span: span, bytesMax: limits.readBytesMax)
            ?? Window(records: [], through: .start, head: .start, base: nil)
    }

    /// See `Store.page`.
    package func page(
        scope: ScopeID, collection: String, before: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) -> Page {
        workspaces[workspace]?.page(
            scope: scope, collection: collection, before: before, rowsMax: limits.pageRows(limit),
            bytesMax: limits.readBytesMax) ?? Page(records: [], at: .start, isLast: true)
    }

    /// See `Store.page(scope:collection:ids:limit:in:)`.
    package func page(
        scope: ScopeID, collection: String, ids: [LocalID], limit: Int, in workspace: WorkspaceID
    ) -> Page {
        workspaces[workspace]?.page(
            scope: scope, collection: collection, ids: ids, rowsMax: limits.pageRows(limit),
            bytesMax: limits.readBytesMax) ?? Page(records: [], at: .start, isLast: true, answered: ids.count)
    }

    /// See `Store.history`.
    package func history(
        of key: RecordKey, scope: ScopeID, before: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) -> LedgerPage {
        workspaces[workspace]?.history(of: key, scope: scope, before: before, limit: limit, limits: limits)
            ?? LedgerPage(entries: [], at: .start, isLast: true)
    }

    /// See `Store.follow`.
    package mutating func follow(_ workspace: WorkspaceID, node: UInt64, now: Milliseconds) -> Head {
        workspaces[workspace, default: WorkspaceTables()]
            .follow(node: node, now: now, lifetime: limits.followLifetime)
    }

    /// See `Store.unfollow`.
    package mutating func unfollow(_ workspace: WorkspaceID, node: UInt64) {
        workspaces[workspace]?.unfollow(node: node)
    }

    /// See `Store.tail`.
    package func tail(after seq: SequenceNumber, limit: Int, in workspace: WorkspaceID) -> TailRead {
        workspaces[workspace]?.tail(after: seq, limit: limit) ?? TailRead(base: nil, batches: [])
    }

    /// See `Store.raiseEpoch`.
    package mutating func raiseEpoch(
        _ raise: EpochRaise, in workspace: WorkspaceID
    ) throws(StoreError) -> EpochOutcome {
        try workspaces[workspace, default: WorkspaceTables()].raiseEpoch(raise, limits: limits)
    }

    /// See `Store.lineage`.
    package func lineage(of workspace: WorkspaceID) -> [EpochStart] {
        Array((workspaces[workspace]?.lineage.reversed() ?? []).prefix(limits.lineageListedMax))
    }
}
