import GRDB
import TidemarkModel

/// The full-text index of one collection: which fields it has, and how it follows the table.
///
/// It keeps no text of its own, only where words stand. It learns of new rows late and many at a time: those up to a mark
/// are in it, those beyond it wait. Triggers keep what is in it in step, whoever writes the table. `MERGING.md` says why.
struct SearchIndex: Sendable {
    let table: String
    private let collection: String
    private let fields: [String]

    init(_ collection: CollectionSchema) {
        self.collection = collection.name
        table = "tidemark_search_\(collection.name)"
        fields = collection.fields.filter(\.isSearchable).map(\.name)
    }

    /// True when the schema wants something of the collection to be found.
    var isWanted: Bool { !fields.isEmpty }

    /// Makes the index what the schema wants, from the rows that are there.
    func follow(_ db: Database) throws {
        if try sql(of: table, db) != (isWanted ? createSQL : nil) {
            try Self.drop(collection, db)
            guard isWanted else { return }
            try db.execute(sql: createSQL)
            try rebuild(db)
        }
        guard isWanted else { return }
        try followTriggers(db)
        try leaveMerging(db)
    }

    /// Until format 6 triggers added each row as it was written: all that is there then is in the index.
    private func followTriggers(_ db: Database) throws {
        let wanted = triggers
        if try wanted.allSatisfy({ try sql(of: $0.name, db) == $0.sql }) { return }
        for trigger in wanted {
            try db.execute(sql: "DROP TRIGGER IF EXISTS \(CollectionTable.quoted(trigger.name))")
            try db.execute(sql: trigger.sql)
        }
        try db.run(
            """
            INSERT OR IGNORE INTO tidemark_indexed (collection, through)
            SELECT ?, coalesce(max(rowid), 0) FROM \(source)
            """, [collection])
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
        try Int.fetchOne(db.cachedStatement(sql: "SELECT 1 FROM \(source) WHERE rowid > \(through) LIMIT 1")) != nil
    }

    /// How many rows wait at most; below zero when the last ones in the index are gone from the table.
    func waiting(_ db: Database) throws -> Int64 { try last(db) - marked(db) }

    /// Adds rows that wait, those that came first, in one part of the index.
    ///
    /// - Returns: how many; fewer than `rowsMax` when none waits any more.
    @discardableResult
    func catchUp(rowsMax: Int64, _ db: Database) throws -> Int {
        let from = try marked(db)
        let bound = "SELECT rowid FROM \(source) WHERE rowid > ? ORDER BY rowid LIMIT 1 OFFSET ?"
        let to = try db.first(bound, [from, max(1, rowsMax) - 1])?.integer(0) ?? last(db)
        // Below it nothing is there: the mark goes back to the last row, so that the next ones wait too.
        guard to != from else { return 0 }
        if to > from {
            try db.run(
                """
                INSERT INTO \(CollectionTable.quoted(table)) (rowid, \(columns))
                SELECT rowid, \(columns) FROM \(source) WHERE rowid > ? AND rowid <= ? ORDER BY rowid
                """, [from, to])
        }
        let rows = to > from ? db.changesCount : 0
        try mark(through: to, db)
        return rows
    }

    private func last(_ db: Database) throws -> Int64 {
        try db.first("SELECT max(rowid) FROM \(source)")?.optionalInteger(0) ?? 0
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
        let table = "tidemark_search_\(collection)"
        for event in ["insert", "update", "delete"] {
            try db.execute(sql: "DROP TRIGGER IF EXISTS \(CollectionTable.quoted("\(table)_\(event)"))")
        }
        try db.execute(sql: "DROP TABLE IF EXISTS \(CollectionTable.quoted(table))")
        try db.run("DELETE FROM tidemark_indexed WHERE collection = ?", [collection])
    }

    // MARK: SQL

    private var source: String { CollectionTable.quoted(collection) }

    private var columns: String { fields.map { CollectionTable.quoted($0) }.joined(separator: ", ") }

    /// The place of the last row that is in the index.
    private var through: String {
        "coalesce((SELECT through FROM tidemark_indexed WHERE collection = '\(collection)'), 0)"
    }

    private var createSQL: String {
        """
        CREATE VIRTUAL TABLE \(CollectionTable.quoted(table)) USING fts5(
            \(columns), content = '\(collection)', prefix = '2 3',
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
        let add = "INSERT INTO \(index) (rowid, \(columns)) VALUES (new.rowid, \(new));"
        let remove = "INSERT INTO \(index) (\(index), rowid, \(columns)) VALUES ('delete', old.rowid, \(old));"
        return [
            trigger("insert", "INSERT", when: "new.rowid <= \(through)", [add]),
            trigger("delete", "DELETE", when: "old.rowid <= \(through)", [remove]),
            trigger(
                "update", "UPDATE OF \(columns)", when: "(\(differs)) AND old.rowid <= \(through)", [remove, add]),
        ]
    }

    private func trigger(
        _ suffix: String, _ event: String, when condition: String, _ steps: [String]
    ) -> (name: String, sql: String) {
        let name = "\(table)_\(suffix)"
        let sql = """
            CREATE TRIGGER \(CollectionTable.quoted(name)) AFTER \(event) ON \(source) WHEN \(condition) BEGIN
                \(steps.joined(separator: "\n    "))
            END
            """
        return (name, sql)
    }
}
