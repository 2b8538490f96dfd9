package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

/// Runs on the connections for reads: steps of the order wait only for the raising of the horizon, which is one row.
extension PostgresStore: Compacting {
    package func clockWitness() async throws(StoreError) -> ClockWitness {
        let found = try await read([Statement(CompactionSQL.newestTurn)])[0].first {
            (turn: try $0.integer(), clock: try $0.integer())
        }
        if let found, found.turn > 0 { return ClockWitness(reached: found.turn, clock: found.clock) }
        let batch = try await read([Statement(CompactionSQL.oldestBatch)])[0].first { try $0.optionalInteger() }
        return ClockWitness(reached: batch ?? nil, clock: found?.clock)
    }

    package func workspacesToCompact(
        before time: Milliseconds, limit: Int
    ) async throws(StoreError) -> [CompactionTurn] {
        var parameters = Parameters()
        parameters.add(time)
        parameters.add(Int64(max(0, limit)))
        return try await read([Statement(CompactionSQL.due, parameters)])[0].all {
            CompactionTurn(workspace: WorkspaceID(try $0.text()), keep: try $0.optionalInteger())
        }
    }

    package func beginCompaction(
        of workspace: WorkspaceID, before time: Milliseconds, now: Milliseconds
    ) async throws(StoreError) -> Bool {
        try await changed([
            Statement(CompactionSQL.begin, workspace) {
                $0.add(time)
                $0.add(now)
            }
        ])[0] == 1
    }

    package func keep(of workspace: WorkspaceID) async throws(StoreError) -> Int64? {
        try await read([Statement(CompactionSQL.keep, workspace)])[0].first { try $0.optionalInteger() } ?? nil
    }

    package func setKeep(_ keep: Int64?, of workspace: WorkspaceID) async throws(StoreError) -> Bool {
        try await changed([
            Statement(CompactionSQL.setKeep, workspace) {
                if let keep { $0.add(keep) } else { $0.addNull() }
            }
        ])[0] == 1
    }

    package func compactionPlan(
        of workspace: WorkspaceID, olderThan time: Milliseconds
    ) async throws(StoreError) -> CompactionPlan {
        let (horizon, head, target) = try await target(of: workspace, olderThan: time)
        let through = max(horizon, target?.seq ?? 0)
        let counts = try await read([Statement(CompactionSQL.plan, workspace) { $0.add(through) }])[0].first {
            (tombstones: Int(try $0.integer()), batches: Int(try $0.integer()))
        }
        return CompactionPlan(
            head: head.seq, horizon: horizon, target: through, tombstones: counts?.tombstones ?? 0,
            batches: counts?.batches ?? 0)
    }

    package func compact(
        _ workspace: WorkspaceID, _ order: CompactionOrder
    ) async throws(StoreError) -> CompactionStep {
        if let target = try await target(of: workspace, olderThan: order.time).target {
            // A transaction of its own: writers of the workspace wait for this row.
            _ = try await changed([
                Statement(CompactionSQL.raise, workspace) {
                    $0.add(target.seq)
                    $0.add(Int64(bitPattern: target.nonce))
                }
            ])
        }
        return try await inSteps(of: workspace) { connection in
            let stored = try await connection.run([Statement(CompactionSQL.horizon, workspace)]).first
            return CompactionMachine(order, horizon: try stored?.first { try $0.integer() } ?? 0)
        }.step
    }

    private func target(
        of workspace: WorkspaceID, olderThan time: Milliseconds
    ) async throws(StoreError) -> (horizon: SequenceNumber, head: Head, target: Head?) {
        let results = try await read([
            Statement(CompactionSQL.horizon, workspace), Statement(ReadingSQL.head, workspace),
        ])
        let horizon = try results[0].first { try $0.integer() } ?? 0
        let head = try results[1].first { try $0.head() } ?? .start
        var search = HorizonSearch(olderThan: time, after: horizon, head: head)
        while let probe = search.probe { search.take(try await batch(holding: probe, in: workspace)) }
        return (horizon, head, search.found)
    }

    /// In the order of client ids.
    package func allClients(after cursor: ClientPlace?, limit: Int) async throws(StoreError) -> [ClientSighting] {
        let list = Statement(CompactionSQL.clients, cursor?.workspace ?? WorkspaceID("")) {
            $0.add(cursor?.client ?? UniqueID(high: 0, low: 0))
            $0.add(Int64(max(0, limit)))
        }
        return try await read([list])[0].all {
            ClientSighting(
                place: ClientPlace(workspace: WorkspaceID(try $0.text()), client: try $0.id()),
                user: UserID(try $0.text()), seen: try $0.integer(), keep: try $0.optionalInteger(),
                isOwed: try $0.bool())
        }
    }

    /// Does nothing: autovacuum gives back free space at the end of a table, and reuses the rest.
    package func giveBack(pages: Int) async throws(StoreError) -> Int { 0 }

    /// Runs statements in one transaction, in one round trip; returns the count of changed rows of each.
    private func changed(_ statements: [Statement]) async throws(StoreError) -> [Int] {
        let begin = transactions.beginWrite
        let results = try await on(reading) { try await $0.run(begin + statements + [Transactions.commit]) }
        return results.dropFirst(begin.count).dropLast().map(\.affectedRows)
    }
}
