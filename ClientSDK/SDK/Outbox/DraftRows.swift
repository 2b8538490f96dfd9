import GRDB
import TidemarkModel

/// What a transaction of the app leaves in the tables, held back until there is much of it or it ends, so that many rows go
/// with one statement. Nobody else may read the records meanwhile: ask here.
final class DraftRows {
    private let records: RecordTable
    /// Records as they were staged; deleted ones too.
    private var staged: [RecordKey: LocalRecord] = [:]
    private var rows: [String: ManyRows] = [:]
    /// Records as they were before the transaction, of those that had nothing pending.
    private var saved: [RecordKey: LocalRecord] = [:]
    private let bases: ManyRows
    private let links: ManyRows
    /// Most records that a transaction writes are new: nothing of them is read then. By collection.
    private var known: [String: RowCheck] = [:]
    /// Whether there were any when the transaction began.
    private let hasTombstones: Bool

    init(_ records: RecordTable) throws {
        self.records = records
        bases = ManyRows(records.db, columns: 10, RecordTable.saveBasesSQL)
        links = ManyRows(records.db, columns: 4, OutboxTable.linksSQL)
        hasTombstones = try RowCheck(records.db, "tidemark_tombstone LIMIT 1", parameters: 0).holds()
    }

    // MARK: Reading

    /// The record as the transaction has left it; `nil` when it has not touched it.
    func staged(_ key: RecordKey) -> LocalRecord? { staged[key] }

    /// The record as somebody sees it once this is committed.
    func visible(_ key: RecordKey) throws -> LocalRecord? {
        if let record = staged[key] { return record.existence == .live ? record : nil }
        return try isKnown(key) ? try records.visible(key) : nil
    }

    /// The record without what is pending on it and without the transaction; `nil` where there was none.
    func base(_ key: RecordKey) throws -> LocalRecord? {
        if let base = saved[key] { return base }
        guard try isKnown(key) else { return nil }
        return try records.base(key) ?? (staged[key] == nil ? records.visible(key) : nil)
    }

    /// Whether there is a row or a pending write of the record, which was not touched yet.
    func isKnown(_ key: RecordKey) throws -> Bool {
        guard let table = records.tables[key.collection] else { return false }
        return try check(table).holds(key.id.description, key.collection)
    }

    private func check(_ table: CollectionTable) throws -> RowCheck {
        if let made = known[table.collection.name] { return made }
        let made = try RowCheck(
            records.db,
            """
            \(table.quotedName) WHERE local_id = ?1
            UNION ALL SELECT 1 FROM tidemark_outbox_record WHERE collection = ?2 AND local_id = ?1
            """, parameters: 2)
        known[table.collection.name] = made
        return made
    }

    /// The tombstone of a record that was not touched yet.
    func tombstone(_ key: RecordKey) throws -> (scope: ScopeID, seq: SequenceNumber)? {
        hasTombstones ? try records.tombstone(key) : nil
    }

    // MARK: Writing

    func save(base record: LocalRecord) throws {
        saved[record.key] = record
        try bases.add(RecordTable.values(base: record))
    }

    /// Notes that the transaction of that number writes the record; twice is once.
    func link(_ key: RecordKey, scope: ScopeID, number: Int64) throws {
        try links.add(OutboxTable.values(link: key, scope: scope, number: number))
    }

    /// Shows the record as pending.
    func show(_ record: LocalRecord) throws {
        staged[record.key] = record
        guard let table = records.tables[record.key.collection] else { return }
        if record.existence == .live {
            try rows(of: table).add(table.values(record, state: .pending))
        } else {
            // What was shown of it before must not come after this.
            try rows[record.key.collection]?.flush()
            try records.show(record, state: .pending)
        }
    }

    /// Writes what is held back; everybody may read again until more is staged.
    func finish() throws {
        for rows in rows.values { try rows.flush() }
        try bases.flush()
        try links.flush()
    }

    private func rows(of table: CollectionTable) -> ManyRows {
        if let known = rows[table.collection.name] { return known }
        let made = ManyRows(records.db, columns: table.columns, table.putSQL)
        rows[table.collection.name] = made
        return made
    }
}
