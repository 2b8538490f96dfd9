import GRDB
import TidemarkModel

/// The rows that a transaction of the app writes, held back until there are many or it ends, so that many rows need one
/// statement. Other code must not read the records meanwhile, but asks this type.
final class DraftRows {
    private let records: RecordTable
    /// The staged records; deleted ones too.
    private var staged: [RecordKey: LocalRecord] = [:]
    private var rows: [String: ManyRows] = [:]
    /// The records as they were before the transaction, for those without pending writes.
    private var saved: [RecordKey: LocalRecord] = [:]
    private let bases: ManyRows
    private let links: ManyRows
    /// The row checks by collection. Most records that a transaction writes are new, and then nothing of them is read.
    private var known: [String: RowCheck] = [:]
    /// Whether there were any tombstones when the transaction began.
    private let hasTombstones: Bool

    init(_ records: RecordTable) throws {
        self.records = records
        bases = ManyRows(records.db, columns: 10, RecordTable.saveBasesSQL)
        links = ManyRows(records.db, columns: 4, OutboxTable.linksSQL)
        hasTombstones = try RowCheck(records.db, "tidemark_tombstone LIMIT 1", parameters: 0).holds()
    }

    // MARK: Reading

    /// Returns the record as the transaction has left it; `nil` when it has not touched it.
    func staged(_ key: RecordKey) -> LocalRecord? { staged[key] }

    /// Returns the record as it is shown once this is committed.
    func visible(_ key: RecordKey) throws -> LocalRecord? {
        if let record = staged[key] { return record.existence == .live ? record : nil }
        return try isKnown(key) ? try records.visible(key) : nil
    }

    /// Returns the record without pending writes and without the transaction; `nil` if there was none.
    func base(_ key: RecordKey) throws -> LocalRecord? {
        if let base = saved[key] { return base }
        guard try isKnown(key) else { return nil }
        return try records.base(key) ?? (staged[key] == nil ? records.visible(key) : nil)
    }

    /// Returns whether a record that was not touched yet has a row or a pending write.
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

    /// Returns the tombstone of a record that was not touched yet.
    func tombstone(_ key: RecordKey) throws -> (scope: ScopeID, seq: SequenceNumber)? {
        hasTombstones ? try records.tombstone(key) : nil
    }

    // MARK: Writing

    func save(base record: LocalRecord) throws {
        saved[record.key] = record
        try bases.add(RecordTable.values(base: record))
    }

    /// Notes that the transaction with that number writes the record; noting it twice is harmless.
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
            // A row of the record that is still held back must not be written after this.
            try rows[record.key.collection]?.flush()
            try records.show(record, state: .pending)
        }
    }

    /// Writes the rows that are held back; all code may read again until more is staged.
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
