import GRDB
import TidemarkModel

/// Single records of one database inside one transaction: the visible row, the base under it, the tombstone.
struct RecordTable {
    let db: Database
    let tables: [String: CollectionTable]

    init(_ db: Database, _ database: LocalDatabase) {
        self.db = db
        tables = database.tables
    }

    init(_ db: Database, tables: [String: CollectionTable]) {
        self.db = db
        self.tables = tables
    }

    /// The row that the app sees.
    func visible(_ key: RecordKey) throws -> LocalRecord? {
        guard let table = tables[key.collection] else { return nil }
        return try db.first(table.selectSQL, [key.id.description]).map { try table.record($0).record }
    }

    /// Makes the row that the app sees this record: absent and deleted ones have none.
    func show(_ record: LocalRecord, state: RecordState) throws {
        guard let table = tables[record.key.collection] else { return }
        if record.existence == .live {
            try table.put(record, state: state, db)
        } else {
            try db.run(table.deleteSQL, [record.key.id.description])
        }
    }

    /// Marks a row whose last write was refused, or takes the mark off; pending rows stay pending.
    func mark(_ key: RecordKey, failed: Bool) throws {
        if failed { try mark(key, from: [.synced], to: .failed) } else { try mark(key, from: [.failed], to: .synced) }
    }

    /// Changes the state of a row without pending writes.
    func mark(_ key: RecordKey, from states: [RecordState], to state: RecordState) throws {
        guard tables[key.collection] != nil else { return }
        let sql = """
            UPDATE \(CollectionTable.quoted(key.collection)) SET state = ?
            WHERE local_id = ? AND state = ? AND NOT EXISTS (
                SELECT 1 FROM tidemark_base AS b WHERE b.collection = ? AND b.local_id = ?
            )
            """
        for old in states {
            try db.run(sql, [state.rawValue, key.id.description, old.rawValue, key.collection, key.id.description])
        }
    }

    // MARK: The server's last state under pending writes

    func base(_ key: RecordKey) throws -> LocalRecord? {
        let sql = """
            SELECT scope, seq, server_id, author, created_time, server_time, existence, fields
            FROM tidemark_base WHERE collection = ? AND local_id = ?
            """
        guard let row = try db.first(sql, key.arguments) else { return nil }
        guard let existence = LocalRecord.Existence(rawValue: try row.text(6)) else {
            throw StoreError(.corrupt, "\(key): the base has no valid existence")
        }
        let fields = try JSONReader.read(Array(try row.text(7).utf8)) { try $0.fields() }
        return LocalRecord(
            key: key, scope: ScopeID(try row.text(0)), seq: try row.integer(1), born: try row.optionalInteger(2),
            author: UserID(try row.text(3)), created: try row.integer(4), updated: try row.optionalInteger(5),
            existence: existence, fields: fields)
    }

    func saveBase(_ record: LocalRecord) throws {
        try db.run(Self.saveBaseSQL, StatementArguments(Self.values(base: record)))
    }

    private static let insertBase = """
        INSERT OR REPLACE INTO tidemark_base (
            collection, local_id, scope, seq, server_id, author, created_time, server_time, existence, fields
        ) VALUES
        """
    private static let saveBaseSQL = ManyRows.statement(insertBase, columns: 10)
    static let saveBasesSQL = ManyRows.statements(insertBase, columns: 10)

    /// In the order of `saveBasesSQL`.
    static func values(base record: LocalRecord) -> [DatabaseValue] {
        [
            record.key.collection.databaseValue, record.key.id.description.databaseValue,
            record.scope.text.databaseValue, record.seq.databaseValue, record.born?.databaseValue ?? .null,
            record.author.text.databaseValue, record.created.databaseValue, record.updated?.databaseValue ?? .null,
            record.existence.rawValue.databaseValue, FieldValue.object(record.fields).json.databaseValue,
        ]
    }

    func deleteBase(_ key: RecordKey) throws {
        try db.run("DELETE FROM tidemark_base WHERE collection = ? AND local_id = ?", key.arguments)
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

    /// The pending mutations of one record, in the order of their writing, and whether one of them is withheld.
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
