import GRDB
import TidemarkModel

/// The full-text index of one collection: which fields it has, and how it follows the table.
///
/// It keeps no text of its own, only where words stand. Triggers keep it in step, whoever writes the table.
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
        let known = try db.first("SELECT sql FROM sqlite_master WHERE name = ?", [table])?.optionalText(0)
        if known != (isWanted ? createSQL : nil) {
            try Self.drop(collection, db)
            guard isWanted else { return }
            try db.execute(sql: createSQL)
            try db.execute(sql: triggersSQL)
            try rebuild(db)
        }
        if isWanted { try leaveMerging(db) }
    }

    /// Has no write merge parts of the index, unless there are very many: `SearchUpkeep` and catch-ups do.
    private func leaveMerging(_ db: Database) throws {
        let name = CollectionTable.quoted(table)
        let known = try db.first("SELECT v FROM \(CollectionTable.quoted("\(table)_config")) WHERE k = 'automerge'")
        guard try known?.optionalInteger(0) != 0 else { return }
        try db.execute(sql: "INSERT INTO \(name) (\(name), rank) VALUES ('automerge', 0)")
    }

    /// Builds the index anew. Also when rows may have other places in the table, as after `VACUUM`.
    func rebuild(_ db: Database) throws {
        let name = CollectionTable.quoted(table)
        try db.execute(sql: "INSERT INTO \(name) (\(name)) VALUES ('rebuild')")
    }

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
    }

    private var createSQL: String {
        let columns = fields.map { CollectionTable.quoted($0) }.joined(separator: ", ")
        return """
            CREATE VIRTUAL TABLE \(CollectionTable.quoted(table)) USING fts5(
                \(columns), content = '\(collection)', prefix = '2 3',
                tokenize = '\(SearchTokenizer.name) \(SearchTokenizer.version)'
            )
            """
    }

    /// The old text must be told when it goes, or the index would find it for ever.
    private var triggersSQL: String {
        let (index, source) = (CollectionTable.quoted(table), CollectionTable.quoted(collection))
        let columns = fields.map { CollectionTable.quoted($0) }
        let list = columns.joined(separator: ", ")
        let old = columns.map { "old.\($0)" }.joined(separator: ", ")
        let new = columns.map { "new.\($0)" }.joined(separator: ", ")
        let differs = columns.map { "old.\($0) IS NOT new.\($0)" }.joined(separator: " OR ")
        let add = "INSERT INTO \(index) (rowid, \(list)) VALUES (new.rowid, \(new));"
        let remove = "INSERT INTO \(index) (\(index), rowid, \(list)) VALUES ('delete', old.rowid, \(old));"
        return """
            CREATE TRIGGER \(trigger("insert")) AFTER INSERT ON \(source) BEGIN
                \(add)
            END;
            CREATE TRIGGER \(trigger("delete")) AFTER DELETE ON \(source) BEGIN
                \(remove)
            END;
            CREATE TRIGGER \(trigger("update")) AFTER UPDATE OF \(list) ON \(source) WHEN \(differs) BEGIN
                \(remove)
                \(add)
            END;
            """
    }

    private func trigger(_ event: String) -> String { CollectionTable.quoted("\(table)_\(event)") }
}
