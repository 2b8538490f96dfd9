import GRDB
import TidemarkModel

/// The server's last state of records under pending writes.
///
/// A record that was new to the device when it was written has no row here as long as a link marks it as pending. Its
/// base is absent, in the scope of that write, so that a new record costs one page less.
extension RecordTable {
    /// Returns the base; `nil` if nothing is pending.
    func base(_ key: RecordKey) throws -> LocalRecord? {
        let sql = """
            SELECT \(Self.stateColumns) FROM tidemark_base WHERE collection = ?1 AND local_id = ?2
            UNION ALL SELECT * FROM (\(Self.firstWritten))
            LIMIT 1
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

    private static let stateColumns = "scope, seq, server_id, author, created_time, server_time, existence, fields"

    /// The absent base under the first pending write, as `stateColumns`.
    private static let firstWritten = """
        SELECT r.scope, 0, NULL, m.value, o.created, NULL, 'absent', '{}'
        FROM tidemark_outbox_record AS r
        JOIN tidemark_outbox AS o ON o.n = r.n
        JOIN tidemark_meta AS m ON m.key = 'account'
        WHERE r.collection = ?1 AND r.local_id = ?2
        ORDER BY o.written
        LIMIT 1
        """

    /// Gives the base of a record its row, unless it has one. Must be called before a link of the record is deleted.
    static func keepBase(_ key: RecordKey, _ db: Database) throws {
        try db.run(
            """
            INSERT OR IGNORE INTO tidemark_base (collection, local_id, \(stateColumns)) SELECT ?1, ?2, * FROM (\(firstWritten))
            """, key.arguments)
    }

    func saveBase(_ record: LocalRecord) throws {
        try db.run(Self.saveBaseSQL, StatementArguments(Self.values(base: record)))
    }

    private static let insertBase =
        "INSERT OR REPLACE INTO tidemark_base (collection, local_id, \(stateColumns)) VALUES"
    private static let saveBaseSQL = ManyRows.statement(insertBase, columns: 10)
    static let saveBasesSQL = ManyRows.statements(insertBase, columns: 10)

    /// The values in the order of `saveBasesSQL`.
    static func values(base record: LocalRecord) -> [DatabaseValue] {
        [
            record.key.collection.databaseValue, record.key.id.description.databaseValue,
            record.scope.text.databaseValue, record.seq.databaseValue, record.born?.databaseValue ?? .null,
            record.author.text.databaseValue, record.created.databaseValue, record.updated?.databaseValue ?? .null,
            record.existence.rawValue.databaseValue, FieldValue.object(record.fields).json.databaseValue,
        ]
    }

    /// Deletes the base; only allowed when nothing is pending any more: see ``base(_:)``.
    func deleteBase(_ key: RecordKey) throws {
        try db.run("DELETE FROM tidemark_base WHERE collection = ? AND local_id = ?", key.arguments)
    }

    /// Returns the condition that the record has a base, and its visible row therefore contains pending writes. A
    /// statement on rows with a number above 0, which new records do not have, may query `tidemark_base` alone.
    static func hasBase(_ collection: String, _ id: String) -> String {
        let named = "collection = \(collection) AND local_id = \(id)"
        return """
            (EXISTS (SELECT 1 FROM tidemark_base WHERE \(named))
            OR EXISTS (SELECT 1 FROM tidemark_outbox_record WHERE \(named)))
            """
    }
}
