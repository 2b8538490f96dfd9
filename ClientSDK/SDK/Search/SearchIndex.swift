import GRDB
import TidemarkModel

/// The full-text index of one collection: which fields it has, and how it follows the table.
///
/// It keeps no text of its own, only where words stand. It learns of new rows late and many at a time: those up to a mark
/// are in it, those beyond it wait. Triggers keep what is in it in step, whoever writes the table. `MERGING.md` says why.
struct SearchIndex: Sendable {
    /// The parenthesis at the end keeps it apart from each table that FTS5 keeps beside one, such as `…_config`.
    let table: String
    private let collection: String
    private let fields: [String]

    init(_ collection: CollectionSchema) {
        self.collection = collection.name
        table = Self.table(of: collection.name)
        fields = collection.fields.filter(\.isSearchable).map(\.name)
    }

    /// True when the schema wants something of the collection to be found.
    var isWanted: Bool { !fields.isEmpty }

    /// Makes the index what the schema wants, from the rows that are there.
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

    /// Has no write merge parts of the index, unless there are very many: `SearchUpkeep` and catch-ups do.
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

    /// Empties the index, so that all rows wait: before they may get other places in the table, as by `VACUUM`, or so that
    /// no word stays of rows that go.
    func forget(_ db: Database) throws {
        let name = CollectionTable.quoted(table)
        try db.execute(sql: "INSERT INTO \(name) (\(name)) VALUES ('delete-all')")
        try mark(through: 0, db)
    }

    // MARK: Rows that wait

    /// True when a search would miss a row.
    func isBehind(_ db: Database) throws -> Bool {
        // Not what an observation looks at: it reads the table anyhow, and is told of the rows.
        try Int.fetchOne(db.cachedStatement(sql: "SELECT 1 FROM \(source) WHERE _rowid_ > \(through) LIMIT 1")) != nil
    }

    /// How many rows wait at most; below zero when the last ones in the index are gone from the table.
    func waiting(_ db: Database) throws -> Int64 { try last(db) - marked(db) }

    /// Adds rows that wait, those that came first, in one part of the index.
    ///
    /// - Returns: how many; fewer than `rowsMax` when none waits any more.
    @discardableResult
    func catchUp(rowsMax: Int64, _ db: Database) throws -> Int {
        let from = try marked(db)
        let bound = "SELECT _rowid_ FROM \(source) WHERE _rowid_ > ? ORDER BY _rowid_ LIMIT 1 OFFSET ?"
        let to = try db.first(bound, [from, max(1, rowsMax) - 1])?.integer(0) ?? last(db)
        // Below it nothing is there: the mark goes back to the last row, so that the next ones wait too.
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
        // The command counts as one change, and each page that it writes as another.
        return db.totalChangesCount - before > 1
    }

    /// Takes the index of a collection away, if there is one.
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

    /// The view in which FTS5 finds the texts again.
    private var texts: String { Self.texts(of: collection) }

    private var names: String { fields.map { CollectionTable.quoted($0) }.joined(separator: ", ") }

    /// The columns of the index: FTS5 lets it have no column `rank` or `rowid`.
    private var columns: String { fields.indices.map { "_\($0)" }.joined(separator: ", ") }

    private var textsSQL: String {
        let texts = fields.enumerated().map { "\(CollectionTable.quoted($1)) AS _\($0)" }.joined(separator: ", ")
        return "CREATE VIEW \(CollectionTable.quoted(self.texts)) AS SELECT _rowid_ AS _row, \(texts) FROM \(source)"
    }

    /// The place of the last row that is in the index.
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

    /// The old text must be told when it goes, or the index would find it for ever. A new row gets a place that is in the
    /// index already when the last ones were deleted: it is added at once.
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
