package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// See `Store.session`: one round trip.
    package func session(
        for user: UserID, client: ClientID?, holding seq: SequenceNumber?, in workspace: WorkspaceID
    ) async throws(StoreError) -> SessionSnapshot {
        var statements = [
            Statement(ReadingSQL.head, workspace),
            Statement(ReadingSQL.grants, workspace) { $0.add(text: user.text) },
            Statement(ReadingSQL.batchHolding, workspace) { $0.add(seq ?? 0) },
            Statement(CompactionSQL.horizon, workspace),
        ]
        if let client { statements.append(Statement(ReadingSQL.client, workspace) { $0.add(client) }) }
        let results = try await read(statements)
        var snapshot = SessionSnapshot(head: try results[0].first { try $0.head() } ?? .start)
        if try results[3].first({ try $0.integer() }) == nil {
            // The workspace was never made, or is erased.
            try await refuseErased(workspace)
        }
        snapshot.grants = try results[1].all { try $0.grant() }
        snapshot.horizon = try results[3].first { try $0.integer() } ?? 0
        if let seq, seq > 0 { snapshot.lineage = try results[2].first { try $0.head() } }
        if client != nil, let stored = try results[4].first({ try $0.storedClient() }), stored.row.user == user {
            snapshot.client = stored.row
            snapshot.results = stored.kept
        }
        return snapshot
    }

    /// See `Store.batch(holding:in:)`.
    package func batch(holding seq: SequenceNumber, in workspace: WorkspaceID) async throws(StoreError) -> Head? {
        guard seq > 0 else { return nil }
        return try await read([Statement(ReadingSQL.batchHolding, workspace) { $0.add(seq) }])[0]
            .first { try $0.head() }
    }

    /// See `Store.changedScopes`: one search of the index for each scope, and one row for each changed scope.
    package func changedScopes(
        among scopes: [ScopeID], after seq: SequenceNumber, in workspace: WorkspaceID
    ) async throws(StoreError) -> [ScopeID] {
        guard !scopes.isEmpty else { return [] }
        let probe = Statement(ReadingSQL.changedScopes, workspace) {
            $0.add(scopes.map(\.text))
            $0.add(seq)
        }
        let results = try await read([Statement(CompactionSQL.horizon, workspace), probe])
        guard try seq >= results[0].first({ try $0.integer() }) ?? 0 else { throw .compacted }
        let changed = Set(try results[1].all { ScopeID(try $0.text()) })
        return scopes.filter(changed.contains)
    }

    /// See `Store.page`: one round trip; bodies beyond the bound on bytes are not read.
    package func page(
        scope: ScopeID, collection: String, before: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> Page {
        let rowsMax = options.limits.pageRows(limit)
        let results = try await read([
            Statement(ReadingSQL.head, workspace),
            Statement(ReadingSQL.page, workspace) {
                $0.add(text: scope.text)
                $0.add(text: collection)
                $0.add(before)
                $0.add(Int64(rowsMax) + 1)
                $0.add(Int64(options.limits.readBytesMax))
            },
        ])
        let (rows, count) = try results[1].records(atMost: rowsMax)
        return Page(
            records: Array(rows.prefix(count)), at: try results[0].first { try $0.head() } ?? .start,
            isLast: count >= rows.count)
    }

    /// See `Store.page(scope:collection:ids:limit:in:)`: one round trip; bodies beyond the bound on bytes are not read.
    package func page(
        scope: ScopeID, collection: String, ids: [LocalID], limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> Page {
        let asked = Array(ids.prefix(options.limits.pageRows(limit)))
        let results = try await read([
            Statement(ReadingSQL.head, workspace),
            Statement(ReadingSQL.pageOfIDs, workspace) {
                $0.add(text: scope.text)
                $0.add(text: collection)
                $0.add(asked)
                $0.add(Int64(options.limits.readBytesMax))
            },
        ])
        let rows = try results[1].all { (record: try $0.record(), isBeyond: try $0.bool(), nth: try $0.integer()) }
        let fitting = rows.prefix { !$0.isBeyond }
        let answered = fitting.count < rows.count ? Int(rows[fitting.count].nth) - 1 : asked.count
        return Page(
            records: fitting.map(\.record), at: try results[0].first { try $0.head() } ?? .start,
            isLast: answered == ids.count, answered: answered)
    }

    /// See `Store.tail`.
    package func tail(
        after seq: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> TailRead {
        let statement = Statement(ReadingSQL.tail, workspace) {
            $0.add(seq)
            $0.add(Int64(max(limit, 0)) + (seq > 0 ? 1 : 0))
        }
        let batches = try await read([statement])[0].all { row in
            let head = try row.head()
            let low = try row.integer()
            let batch = try row.optionalBytes().map { try BatchBody.decode($0, low: low, head: head) }
            return TailBatch(low: low, head: head, batch: batch)
        }
        return TailRead(from: batches, after: seq, limit: limit)
    }
}

extension Results.Rows {
    /// Returns the rows of ``ReadingSQL/window`` or ``ReadingSQL/page``, and the count of those to show.
    func records(atMost rowsMax: Int) throws(StoreError) -> (rows: [StoredRecord], count: Int) {
        let rows = try all { (record: try $0.record(), isBeyond: try $0.bool()) }
        return (rows.map(\.record), min(rows.firstIndex { $0.isBeyond } ?? rows.count, rowsMax))
    }
}
