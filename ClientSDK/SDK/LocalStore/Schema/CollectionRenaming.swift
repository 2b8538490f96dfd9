import GRDB
import TidemarkModel

/// Gives a collection a new name in everything that a device stores under the old one. At the server it keeps the old
/// name.
struct CollectionRenaming {
    let schema: Schema
    let db: Database

    /// - Parameter known: the names and types of the fields in the tables; afterwards under the collections' new names.
    func run(_ known: inout [String: [String: String]]) throws {
        let stored = try storedNames()
        for (name, fields) in known where schema.collection(name) == nil {
            let first = stored[name] ?? name
            guard let now = schema.collections.first(where: { $0.storedName == first }), known[now.name] == nil else {
                continue
            }
            try rename(name, to: now.name)
            known[name] = nil
            known[now.name] = fields
        }
    }

    /// Notes the server's names of the collections, so that a further new name leads back to the first.
    func note() throws {
        try db.run("DELETE FROM tidemark_collection")
        for collection in schema.collections where collection.was != nil {
            try db.run(
                "INSERT INTO tidemark_collection (collection, stored) VALUES (?, ?)",
                [collection.name, collection.storedName])
        }
    }

    private func storedNames() throws -> [String: String] {
        let rows = try db.all("SELECT collection, stored FROM tidemark_collection")
        return Dictionary(
            try rows.map { (try $0.text(0), try $0.text(1)) }, uniquingKeysWith: { first, _ in first })
    }

    private func rename(_ old: String, to new: String) throws {
        try SearchIndex.drop(old, db)
        let indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
        for row in try db.all(indexes, [old]) {
            try db.execute(sql: "DROP INDEX \(CollectionTable.quoted(try row.text(0)))")
        }
        // In two steps: SQLite refuses a name that differs by case alone.
        let passing = CollectionTable.quoted("tidemark_renaming")
        try db.execute(sql: "ALTER TABLE \(CollectionTable.quoted(old)) RENAME TO \(passing)")
        try db.execute(sql: "ALTER TABLE \(passing) RENAME TO \(CollectionTable.quoted(new))")
        for table in try tablesOfKeys() {
            try db.run("UPDATE \(table) SET collection = ? WHERE collection = ?", [new, old])
        }
        try OutboxEntry.rewriteBodies(db) { transaction in
            transaction.renamingCollections { key in
                key.collection == old ? RecordKey(collection: new, id: key.id) : key
            }
        }
    }

    /// Returns Tidemark's tables that name collections.
    private func tablesOfKeys() throws -> [String] {
        let sql = """
            SELECT m.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
            WHERE m.type = 'table' AND m.name LIKE 'tidemark\\_%' ESCAPE '\\' AND c.name = 'collection'
                AND m.name <> 'tidemark_collection'
            ORDER BY m.name
            """
        return try db.all(sql).map { CollectionTable.quoted(try $0.text(0)) }
    }
}
