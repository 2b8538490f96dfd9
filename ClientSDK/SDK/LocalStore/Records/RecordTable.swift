import GRDB
import TidemarkModel

/// The parts of single records inside one transaction: the visible row, the base under it, the tombstone.
struct RecordTable {
    let db: Database
    let tables: [String: CollectionTable]
    /// The user whose writes are pending; `nil` if nothing is folded.
    let account: UserID?

    init(_ db: Database, _ database: LocalDatabase) {
        self.db = db
        tables = database.tables
        account = database.account
    }

    init(_ db: Database, tables: [String: CollectionTable]) {
        self.db = db
        self.tables = tables
        account = nil
    }

    /// Returns the row that the app sees.
    func visible(_ key: RecordKey) throws -> LocalRecord? {
        guard let table = tables[key.collection] else { return nil }
        return try db.first(table.selectSQL, [key.id.description]).map { try table.record($0).record }
    }

    /// Writes the record as the row that the app sees; absent and deleted records have no row.
    func show(_ record: LocalRecord, state: RecordState) throws {
        guard let table = tables[record.key.collection] else { return }
        if record.existence == .live {
            try table.put(record, state: state, db)
        } else {
            try db.run(table.deleteSQL, [record.key.id.description])
        }
    }

    /// Marks a row whose last write was refused, or removes the mark; pending rows stay pending.
    func mark(_ key: RecordKey, failed: Bool) throws {
        if failed { try mark(key, from: [.synced], to: .failed) } else { try mark(key, from: [.failed], to: .synced) }
    }

    /// Changes the state of a row without pending writes.
    func mark(_ key: RecordKey, from states: [RecordState], to state: RecordState) throws {
        guard tables[key.collection] != nil else { return }
        let sql = """
            UPDATE \(CollectionTable.quoted(key.collection)) SET state = ?1
            WHERE local_id = ?2 AND state = ?3 AND NOT \(Self.hasBase("?4", "?2"))
            """
        for old in states {
            try db.run(sql, [state.rawValue, key.id.description, old.rawValue, key.collection])
        }
    }

    // MARK: Tombstones

    func tombstone(_ key: RecordKey) throws -> (scope: ScopeID, seq: SequenceNumber)? {
        let sql = "SELECT scope, seq FROM tidemark_tombstone WHERE collection = ? AND local_id = ?"
        guard let row = try db.first(sql, key.arguments) else { return nil }
        return (ScopeID(try row.text(0)), try row.integer(1))
    }

    func saveTombstone(_ key: RecordKey, scope: ScopeID, seq: SequenceNumber) throws {
        try db.run(
            "INSERT OR REPLACE INTO tidemark_tombstone (collection, local_id, scope, seq) VALUES (?, ?, ?, ?)",
            [key.collection, key.id.description, scope.text, seq])
    }

    func deleteTombstone(_ key: RecordKey) throws {
        try db.run("DELETE FROM tidemark_tombstone WHERE collection = ? AND local_id = ?", key.arguments)
    }

    // MARK: Pending writes

    /// Returns the pending mutations of one record, in the order of their writing, and whether one of them is withheld.
    func pending(_ key: RecordKey) throws -> (mutations: [Mutation], isWithheld: Bool) {
        let sql = """
            SELECT o.body, o.state
            FROM tidemark_outbox_record AS r
            JOIN tidemark_outbox AS o ON o.n = r.n
            WHERE r.collection = ? AND r.local_id = ?
            ORDER BY o.written
            """
        var mutations: [Mutation] = []
        var isWithheld = false
        for row in try db.all(sql, key.arguments) {
            mutations += try OutboxEntry.transaction(try row.text(0)).mutations.filter { $0.key == key }
            if let state = OutboxEntry.State(rawValue: try row.text(1)), state.isWithheld { isWithheld = true }
        }
        return (mutations, isWithheld)
    }
}
