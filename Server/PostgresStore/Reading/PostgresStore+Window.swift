package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// See `Store.window`: one round trip, two if it is cut. It is also cut after `windowRowsMax` rows.
    package func window(
        scopes: [ScopeID], after seq: SequenceNumber, span: Int64, in workspace: WorkspaceID
    ) async throws(StoreError) -> Window {
        let target = StoreLimits.target(after: seq, span: span)
        let rowsMax = max(options.windowRowsMax, 1)
        let results = try await read([
            Statement(ReadingSQL.windowEnds, workspace) {
                $0.add(target)
                $0.add(seq)
            },
            Statement(ReadingSQL.window, workspace) {
                $0.add(Set(scopes).map(\.text))
                $0.add(seq)
                $0.add(target)
                // One row more than is shown: it decides where to cut.
                $0.add(Int64(rowsMax) + 1)
                $0.add(Int64(options.limits.readBytesMax))
            },
            Statement(CompactionSQL.horizon, workspace),
        ])
        guard try seq >= results[2].first({ try $0.integer() }) ?? 0 else { throw .compacted }
        let ends = try results[0].all { (which: try $0.small(), head: try $0.head()) }
        func end(_ which: Int16) -> Head? { ends.first { $0.which == which }?.head }
        let head = end(0) ?? .start
        let through = end(1) ?? head
        let (rows, count) = try results[1].records(atMost: rowsMax)
        let base = seq > 0 ? end(2) : nil
        let window = Window(records: rows, through: through, head: head, base: base)
        return count < rows.count ? try await cut(window, at: count, in: workspace) : window
    }

    /// Ends the window at the last batch that is wholly inside; if not even the first one is, within that batch.
    ///
    /// Batches never change, so that a later snapshot gives the same answer, unless the database went back in between.
    private func cut(
        _ window: Window, at count: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> Window {
        let rows = window.records
        let beyond = rows[count].seq
        let results = try await read([
            Statement(ReadingSQL.batchBefore, workspace) { $0.add(beyond) },
            Statement(ReadingSQL.batchHolding, workspace) { $0.add(beyond) },
            Statement(ReadingSQL.batchHolding, workspace) { $0.add(window.head.seq) },
        ])
        guard window.head.isOfHistory(holding: try results[2].first { try $0.head() }) else { throw .wentBack }
        if let end = try results[0].first({ try $0.head() }), end.seq >= rows[0].seq {
            let records = Array(rows.prefix { $0.seq <= end.seq })
            return Window(records: records, through: end, head: window.head, base: window.base)
        }
        guard var end = try results[1].first({ try $0.head() }) else {
            throw StoreError(.invariant, "a record has a number that no batch holds")
        }
        end.seq = rows[count - 1].seq
        return Window(records: Array(rows.prefix(count)), through: end, head: window.head, base: window.base)
    }
}
