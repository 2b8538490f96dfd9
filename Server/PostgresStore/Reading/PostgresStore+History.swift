package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// See `Store.history`: one round trip, one search of the primary key.
    package func history(
        of key: RecordKey, scope: ScopeID, before: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> LedgerPage {
        let results = try await read([
            Statement(ReadingSQL.head, workspace),
            Statement(LedgerSQL.history, workspace) {
                $0.add(text: key.collection)
                $0.add(key.id)
                $0.add(text: scope.text)
                $0.add(before)
            },
        ])
        let head = try results[0].first { try $0.head() } ?? .start
        return LedgerPage(
            try results[1].all { try $0.ledgerEntry() }, at: head, limit: limit, limits: options.limits)
    }

    /// Deletes expired entries, in small steps.
    ///
    /// - Returns: the count of deleted entries; at `trimBatchesMax` there may be more.
    func trimLedger(now: Milliseconds) async throws(StoreError) -> Int {
        let (oldest, overflows) = now.subtractingReportingOverflow(options.limits.ledgerLifetime)
        guard !overflows else { return 0 }
        var dropped = 0
        while dropped < options.trimBatchesMax {
            let step = min(Self.ledgerStep, options.trimBatchesMax - dropped)
            let found = try await dropLedger(olderThan: oldest, limit: step)
            dropped += found
            if found < step { break }
        }
        return dropped
    }

    private static let ledgerStep = 500

    /// Finds entries over all workspaces; each deletion names its own workspace.
    private func dropLedger(olderThan time: Milliseconds, limit: Int) async throws(StoreError) -> Int {
        try await on(reading) { connection in
            var parameters = Parameters()
            parameters.add(time)
            parameters.add(Int64(limit))
            let found = try await connection.run([Statement(LedgerSQL.old, parameters)]).first
            let expired = try found?.all { (WorkspaceID(try $0.text()), try $0.integer()) } ?? []
            // In the order of time, so that the last one of a workspace is its newest.
            let newest = Dictionary(expired, uniquingKeysWith: { $1 })
            let drops = newest.sorted { $0.key < $1.key }.map { workspace, time in
                Statement(LedgerSQL.drop, workspace) { $0.add(time) }
            }
            guard !drops.isEmpty else { return 0 }
            _ = try await connection.run(drops)
            return expired.count
        }
    }
}

extension RowReader {
    fileprivate mutating func ledgerEntry() throws -> LedgerEntry {
        let key = RecordKey(collection: try text(), id: try id())
        let scope = ScopeID(try text())
        let seq = try integer()
        let value = try OverwrittenValue(
            stored: try text(), rule: try text(), old: try optionalBytes(), new: try optionalBytes())
        return LedgerEntry(
            key: key, scope: scope, seq: seq, value: value, oldAuthor: try optionalText().map { UserID($0) },
            author: UserID(try text()), client: try id(), app: try optionalText(), time: try integer())
    }
}
