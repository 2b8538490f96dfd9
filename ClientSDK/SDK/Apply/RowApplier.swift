import GRDB
import TidemarkModel

/// Applies the server's rows under the guard of R-41: a row is applied only if it is newer than the known one. Repeated
/// frames, or pages before or after them, therefore change nothing.
///
/// Without pending writes and tombstones, many rows are written at a time. Call `finish` after the last one, before
/// other code reads them.
struct RowApplier {
    private let records: RecordTable
    private var hasBases: Bool
    private var hasTombstones: Bool
    private let hasConflicts: Bool
    private var batches: [String: RowBatch] = [:]
    private let deletions: DeletionLog
    private var hasDeleted = false

    init(_ records: RecordTable, deletionsKept: Int) throws {
        self.records = records
        deletions = DeletionLog(db: records.db, keptMax: deletionsKept)
        hasBases = try records.db.exists(
            "SELECT 1 FROM tidemark_base UNION ALL SELECT 1 FROM tidemark_outbox_record LIMIT 1")
        hasTombstones = try records.db.exists("SELECT 1 FROM tidemark_tombstone LIMIT 1")
        hasConflicts = try !ConflictTable(db: records.db).isEmpty()
    }

    /// Applies the rows of one held scope.
    ///
    /// - Parameter isFilling: true when pages are still to come, so that tombstones must be remembered.
    mutating func apply(_ changes: [Change], isFilling: Bool, rebase: inout Rebase) throws {
        for change in changes {
            // Collections unknown to the app are fetched by pages once it knows them.
            guard let table = records.tables[change.key.collection] else { continue }
            let record = LocalRecord(change, in: table)
            if change.isDeleted {
                try deletions.note(change.key, scope: change.scope, seq: change.seq)
                hasDeleted = true
            }
            if hasBases, let base = try records.base(change.key) {
                guard change.seq > base.seq else { continue }
                try records.saveBase(record)
                rebase.meet(change.key, over: base)
            } else if change.isDeleted {
                try delete(change, table, isFilling: isFilling)
            } else {
                if hasTombstones, let tombstone = try records.tombstone(change.key) {
                    guard change.seq > tombstone.seq else { continue }
                    try records.deleteTombstone(change.key)
                }
                let isOpen = try hasConflicts && ConflictTable(db: records.db).holds(change.key)
                try batch(table).add(record, isOpen ? .conflict : .synced)
            }
        }
    }

    /// Writes the applied rows that are not written yet.
    func finish() throws {
        for batch in batches.values { try batch.flush() }
        if hasDeleted { try deletions.trim() }
    }

    private mutating func delete(_ change: Change, _ table: CollectionTable, isFilling: Bool) throws {
        let id = change.key.id.description
        try batches[change.key.collection]?.flush()
        try records.db.run(table.deleteOlderSQL, [id, change.seq])
        guard isFilling, try !records.db.exists(table.selectSQL, [id]) else { return }
        if let known = try records.tombstone(change.key), known.seq >= change.seq { return }
        try records.saveTombstone(change.key, scope: change.scope, seq: change.seq)
        hasTombstones = true
    }

    private mutating func batch(_ table: CollectionTable) -> RowBatch {
        if let known = batches[table.collection.name] { return known }
        let made = RowBatch(table, records.db)
        batches[table.collection.name] = made
        return made
    }
}
