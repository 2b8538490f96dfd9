import TidemarkLock
package import TidemarkModel

extension WorkspaceTables {
    /// See `Compacting.compact`.
    mutating func compact(_ order: CompactionOrder) -> CompactionStep {
        if let target = target(olderThan: order.time) { horizon = target.seq }
        var machine = CompactionMachine(order, horizon: horizon)
        machine.run { answer($0) }
        return machine.step
    }

    func target(olderThan time: Milliseconds) -> Head? {
        var search = HorizonSearch(olderThan: time, after: horizon, head: head)
        while let probe = search.probe { search.take(batch(holding: probe)) }
        return search.found
    }

    func plan(olderThan time: Milliseconds) -> CompactionPlan {
        let target = max(horizon, target(olderThan: time)?.seq ?? 0)
        return CompactionPlan(
            head: head.seq, horizon: horizon, target: target, tombstones: tombstones(through: target).count,
            batches: batches.prefix { $0.head.seq < target }.count)
    }

    func tombstones(through seq: SequenceNumber) -> [StoredRecord] {
        records.values.filter { $0.isDeleted && $0.seq <= seq }.sorted { $0.seq < $1.seq }
    }

    /// See `Compacting.blobNames`.
    func blobNames(_ question: BlobScan.Question, limit: Int) -> BlobNamePage {
        let rows = records.values.filter { $0.scope == question.scope && $0.seq > question.after }
            .sorted { $0.seq < $1.seq }
        var search = BlobNameSearch(for: question.wanted)
        for record in rows.prefix(limit) {
            search.look(through: record.body)
            for value in (ledger[record.key] ?? []).flatMap({ [$0.value.old, $0.value.new] }) {
                if let value { search.look(through: Array(value.json.utf8)) }
            }
        }
        return BlobNamePage(found: search.found, next: rows.count > limit ? rows[limit - 1].seq : nil)
    }
}

extension MemoryTables {
    /// See `Compacting.compact`.
    package mutating func compact(_ workspace: WorkspaceID, _ order: CompactionOrder) -> CompactionStep {
        workspaces[workspace]?.compact(order) ?? CompactionStep(horizon: 0)
    }

    /// Returns the workspace's horizon.
    package func horizon(of workspace: WorkspaceID) -> SequenceNumber { workspaces[workspace]?.horizon ?? 0 }
}

extension MemoryTables {
    /// See `Compacting.clockWitness`.
    var clockWitness: ClockWitness {
        let newest = workspaces.values.map(\.compacted).max().flatMap { $0 > 0 ? $0 : nil }
        return ClockWitness(reached: newest ?? workspaces.values.compactMap { $0.batches.first?.head.time }.min())
    }
}

extension InMemoryStore: Compacting {
    package func clockWitness() async throws(StoreError) -> ClockWitness { tables.withLock { $0.clockWitness } }

    package func workspacesToCompact(
        before time: Milliseconds, limit: Int
    ) async throws(StoreError) -> [CompactionTurn] {
        tables.withLock { tables in
            tables.workspaces.filter { $0.value.compacted < time }
                .sorted { ($0.value.compacted, $0.key) < ($1.value.compacted, $1.key) }.prefix(max(0, limit))
                .map { CompactionTurn(workspace: $0.key, keep: $0.value.keep) }
        }
    }

    package func beginCompaction(
        of workspace: WorkspaceID, before time: Milliseconds, now: Milliseconds
    ) async throws(StoreError) -> Bool {
        tables.withLock { tables in
            guard let held = tables.workspaces[workspace], held.compacted < time else { return false }
            tables.workspaces[workspace]?.compacted = now
            return true
        }
    }

    package func keep(of workspace: WorkspaceID) async throws(StoreError) -> Int64? {
        tables.withLock { $0.workspaces[workspace]?.keep }
    }

    package func setKeep(_ keep: Int64?, of workspace: WorkspaceID) async throws(StoreError) -> Bool {
        tables.withLock { tables in
            guard tables.workspaces[workspace] != nil else { return false }
            tables.workspaces[workspace]?.keep = keep
            return true
        }
    }

    package func compactionPlan(
        of workspace: WorkspaceID, olderThan time: Milliseconds
    ) async throws(StoreError) -> CompactionPlan {
        tables.withLock { $0.workspaces[workspace]?.plan(olderThan: time) }
            ?? CompactionPlan(head: 0, horizon: 0, target: 0, tombstones: 0, batches: 0)
    }

    package func compact(
        _ workspace: WorkspaceID, _ order: CompactionOrder
    ) async throws(StoreError) -> CompactionStep {
        tables.withLock { $0.compact(workspace, order) }
    }

    package func allClients(after last: ClientPlace?, limit: Int) async throws(StoreError) -> [ClientSighting] {
        tables.withLock { tables in
            let all = tables.workspaces.flatMap { workspace, held in
                held.clients.values.map { client in
                    let (registered, seen) =
                        held.sightings[client.row.id].map { ($0.registered, $0.last.time) } ?? (0, 0)
                    return ClientSighting(
                        place: ClientPlace(workspace: workspace, client: client.row.id), user: client.row.user,
                        seen: max(registered, seen), keep: held.keep,
                        isOwed: client.row.settledThrough > client.row.ackedThrough)
                }
            }
            let sorted = all.sorted { ($0.place.workspace, $0.place.client) < ($1.place.workspace, $1.place.client) }
            let rest = sorted.drop { client in
                last.map { (client.place.workspace, client.place.client) <= ($0.workspace, $0.client) } ?? false
            }
            return Array(rest.prefix(max(0, limit)))
        }
    }

    package func giveBack(pages: Int) async throws(StoreError) -> Int { 0 }

    package func blobNames(
        _ question: BlobScan.Question, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> BlobNamePage {
        tables.withLock { $0.workspaces[workspace]?.blobNames(question, limit: limit) }
            ?? BlobNamePage(found: [], next: nil)
    }
}
