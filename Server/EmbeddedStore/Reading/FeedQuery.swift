import GRDB
import TidemarkModel
import TidemarkSQLite
import TidemarkStore

/// Reads along one workspace's order, in the snapshot of its connection.
struct FeedQuery {
    let db: Database
    let workspace: WorkspaceID

    func head() throws -> Head {
        try Prepared(EmbeddedSQL.head, db).first({ $0.text(workspace.text) }, { $0.head() }) ?? .start
    }

    /// The number up to which deletions are forgotten.
    func horizon() throws -> SequenceNumber {
        try Prepared(CompactionSQL.horizon, db).first({ $0.text(workspace.text) }, { $0.integer() }) ?? 0
    }

    func batch(holding seq: SequenceNumber) throws -> Head? { try batch(EmbeddedSQL.batchHolding, seq) }

    func window(scopes: [ScopeID], after seq: SequenceNumber, span: Int64, bytesMax: Int) throws -> Window {
        guard try seq >= horizon() else { throw StoreError.compacted }
        let head = try head()
        let through = try batch(holding: StoreLimits.target(after: seq, span: span)) ?? head
        // No body is read before the cut is known.
        let spots = try ScopeSearch(db: db, workspace: workspace).spots(in: scopes, after: seq, through: through.seq)
        let base = seq > 0 ? try batch(holding: seq) : nil
        var window = Window(records: [], through: through, head: head, base: base)
        let select = try Prepared(EmbeddedSQL.recordAtRow, db)
        var bytes = 0
        for spot in spots {
            guard let record = try select.first({ $0.integer(spot.row) }, { try $0.record() }) else { continue }
            bytes += record.body.count
            if bytes > bytesMax, !window.records.isEmpty {
                try cut(&window, before: record.seq)
                break
            }
            window.records.append(record)
        }
        return window
    }

    /// Ends the window at the last batch that is wholly inside; if not even the first one is, within that batch.
    private func cut(_ window: inout Window, before seq: SequenceNumber) throws {
        guard let first = window.records.first, let last = window.records.last else { return }
        if let end = try batch(EmbeddedSQL.batchBefore, seq), end.seq >= first.seq {
            window.records.removeAll { $0.seq > end.seq }
            window.through = end
        } else if var end = try batch(holding: seq) {
            end.seq = last.seq
            window.through = end
        }
    }

    private func batch(_ sql: String, _ seq: SequenceNumber) throws -> Head? {
        try Prepared(sql, db).first(
            {
                $0.text(workspace.text)
                $0.integer(seq)
            }, { $0.head() })
    }
}
