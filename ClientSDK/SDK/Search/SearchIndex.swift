import GRDB
import TidemarkModel

/// The full-text index of one collection: its fields, and the way it follows the table.
///
/// It stores no text, only the positions of words. New rows are added late and many at a time: rows up to a mark are in
/// the index, rows beyond it wait. Triggers update the rows in the index, whoever writes the table. `MERGING.md`
/// explains why.
struct SearchIndex: Sendable {
    /// The closing parenthesis keeps the name apart from the tables that FTS5 creates beside an index, such as
    /// `…_config`.
    let table: String
    private let collection: String
    private let fields: [String]

    init(_ collection: CollectionSchema) {
        self.collection = collection.name
        table = Self.table(of: collection.name)
        fields = collection.fields.filter(\.isSearchable).map(\.name)
    }

    /// True when the schema marks a field of the collection as searchable.
    var isWanted: Bool { !fields.isEmpty }

    /// Makes the index match the schema, from the existing rows.
    func follow(_ db: Database) throws {
        let wanted = isWanted ? (createSQL, textsSQL) : (nil, nil)
        if try (sql(of: table, db), sql(of: texts, db)) != wanted {
            try Self.drop(collection, db)
            guard isWanted else { return }
            try db.execute(sql: textsSQL)
            try db.execute(sql: createSQL)
            try rebuild(db)
        }
        guard isWanted else { return }
        try followTriggers(db)
        try leaveMerging(db)
    }

    private func followTriggers(_ db: Database) throws {
        for trigger in triggers where try sql(of: trigger.name, db) != trigger.sql {
            try db.execute(sql: "DROP TRIGGER IF EXISTS \(CollectionTable.quoted(trigger.name))")
            try db.execute(sql: trigger.sql)
        }
    }

    private func sql(of name: String, _ db: Database) throws -> String? {
        try db.first("SELECT sql FROM sqlite_master WHERE name = ?", [name])?.optionalText(0)
    }

    /// Turns off automatic merging by writes, except for very many parts: `SearchUpkeep` and catch-ups merge.
    private func leaveMerging(_ db: Database) throws {
        let name = CollectionTable.quoted(table)
        let known = try db.first("SELECT v FROM \(CollectionTable.quoted("\(table)_config")) WHERE k = 'automerge'")
        guard try known?.optionalInteger(0) != 0 else { return }
        try db.execute(sql: "INSERT INTO \(name) (\(name), rank) VALUES ('automerge', 0)")
    }

    /// Builds the index anew, from all rows.
    private func rebuild(_ db: Database) throws {
        let name = CollectionTable.quoted(table)
        try db.execute(sql: "INSERT INTO \(name) (\(name)) VALUES ('rebuild')")
        try mark(through: last(db), db)
    }

    /// Empties the index, so that all rows wait. Needed before rows may get other row ids, as by `VACUUM`, and to
    /// remove the words of deleted rows.
    func forget(_ db: Database) throws {
        let name = CollectionTable.quoted(table)
        try db.execute(sql: "INSERT INTO \(name) (\(name)) VALUES ('delete-all')")
        try mark(through: 0, db)
    }

    // MARK: Rows that wait

    /// Returns true when a search would miss a row.
    func isBehind(_ db: Database) throws -> Bool {
        // Not recorded as read by an observation: it reads the table anyhow, and is notified of the rows.
        try Int.fetchOne(db.cachedStatement(sql: "SELECT 1 FROM \(source) WHERE _rowid_ > \(through) LIMIT 1")) != nil
    }

    /// Returns the most rows that may wait; it is negative when the last indexed rows were deleted from the table.
    func waiting(_ db: Database) throws -> Int64 { try last(db) - marked(db) }

    /// Adds waiting rows, the oldest first, as one part of the index.
    ///
    /// - Returns: the number of rows; less than `rowsMax` when no more wait.
    @discardableResult
    func catchUp(rowsMax: Int64, _ db: Database) throws -> Int {
        let from = try marked(db)
        let bound = "SELECT _rowid_ FROM \(source) WHERE _rowid_ > ? ORDER BY _rowid_ LIMIT 1 OFFSET ?"
        let to = try db.first(bound, [from, max(1, rowsMax) - 1])?.integer(0) ?? last(db)
        // No row is at or above the mark: it goes back to the last row, so that the next rows wait, too.
        guard to != from else { return 0 }
        if to > from {
            try db.run(
                """
                INSERT INTO \(CollectionTable.quoted(table)) (rowid, \(columns))
                SELECT _rowid_, \(names) FROM \(source) WHERE _rowid_ > ? AND _rowid_ <= ? ORDER BY _rowid_
                """, [from, to])
        }
        let rows = to > from ? db.changesCount : 0
        try mark(through: to, db)
        return rows
    }

    private func last(_ db: Database) throws -> Int64 {
        try db.first("SELECT max(_rowid_) FROM \(source)")?.optionalInteger(0) ?? 0
    }

    private func marked(_ db: Database) throws -> Int64 { try db.first("SELECT \(through)")?.integer(0) ?? 0 }

    private func mark(through row: Int64, _ db: Database) throws {
        try db.run(
            """
            INSERT INTO tidemark_indexed (collection, through) VALUES (?, ?)
            ON CONFLICT (collection) DO UPDATE SET through = excluded.through
            """, [collection, row])
    }

    // MARK: Parts

    /// Merges parts of the index into larger ones.
    ///
    /// - Returns: false when there was nothing to merge.
    func merge(pages: Int, _ db: Database) throws -> Bool {
        let name = CollectionTable.quoted(table)
        let before = db.totalChangesCount
        try db.run("INSERT INTO \(name) (\(name), rank) VALUES ('merge', ?)", [pages])
        // The command itself is one change, and each page that it writes is another.
        return db.totalChangesCount - before > 1
    }

    /// Deletes the index of a collection, if there is one.
    static func drop(_ collection: String, _ db: Database) throws {
        let table = table(of: collection)
        for event in ["insert", "update", "delete"] {
            try db.execute(sql: "DROP TRIGGER IF EXISTS \(CollectionTable.quoted("\(table) \(event)"))")
        }
        try db.execute(sql: "DROP TABLE IF EXISTS \(CollectionTable.quoted(table))")
        try db.execute(sql: "DROP VIEW IF EXISTS \(CollectionTable.quoted(texts(of: collection)))")
        try db.run("DELETE FROM tidemark_indexed WHERE collection = ?", [collection])
    }

    // MARK: SQL

    private var source: String { CollectionTable.quoted(collection) }

    private static func table(of collection: String) -> String { "tidemark_search(\(collection))" }

    private static func texts(of collection: String) -> String { "tidemark_texts(\(collection))" }

    /// The view in which FTS5 finds the texts.
    private var texts: String { Self.texts(of: collection) }

    private var names: String { fields.map { CollectionTable.quoted($0) }.joined(separator: ", ") }

    /// The columns of the index: FTS5 allows no column named `rank` or `rowid`.
    private var columns: String { fields.indices.map { "_\($0)" }.joined(separator: ", ") }

    private var textsSQL: String {
        let texts = fields.enumerated().map { "\(CollectionTable.quoted($1)) AS _\($0)" }.joined(separator: ", ")
        return "CREATE VIEW \(CollectionTable.quoted(self.texts)) AS SELECT _rowid_ AS _row, \(texts) FROM \(source)"
    }

    /// The row id of the last indexed row.
    private var through: String {
        "coalesce((SELECT through FROM tidemark_indexed WHERE collection = '\(collection)'), 0)"
    }

    private var createSQL: String {
        """
        CREATE VIRTUAL TABLE \(CollectionTable.quoted(table)) USING fts5(
            \(columns), content = '\(texts)', content_rowid = '_row', prefix = '2 3',
            tokenize = '\(SearchTokenizer.name) \(SearchTokenizer.version)'
        )
        """
    }

    /// FTS5 needs the old text of a deleted row, or it would find it forever. If the last rows were deleted, a new row
    /// may get the id of an indexed one: it is then added at once.
    private var triggers: [(name: String, sql: String)] {
        let index = CollectionTable.quoted(table)
        let names = fields.map { CollectionTable.quoted($0) }
        let old = names.map { "old.\($0)" }.joined(separator: ", ")
        let new = names.map { "new.\($0)" }.joined(separator: ", ")
        let differs = names.map { "old.\($0) IS NOT new.\($0)" }.joined(separator: " OR ")
        let add = "INSERT INTO \(index) (rowid, \(columns)) VALUES (new._rowid_, \(new));"
        let remove = "INSERT INTO \(index) (\(index), rowid, \(columns)) VALUES ('delete', old._rowid_, \(old));"
        return [
            trigger("insert", "INSERT", when: "new._rowid_ <= \(through)", [add]),
            trigger("delete", "DELETE", when: "old._rowid_ <= \(through)", [remove]),
            trigger(
                "update", "UPDATE OF \(self.names)", when: "(\(differs)) AND old._rowid_ <= \(through)", [remove, add]),
        ]
    }

    private func trigger(
        _ suffix: String, _ event: String, when condition: String, _ steps: [String]
    ) -> (name: String, sql: String) {
        let name = "\(table) \(suffix)"
        let sql = """
            CREATE TRIGGER \(CollectionTable.quoted(name)) AFTER \(event) ON \(source) WHEN \(condition) BEGIN
                \(steps.joined(separator: "\n    "))
            END
            """
        return (name, sql)
    }
}
