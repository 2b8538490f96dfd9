import GRDB
import TidemarkModel

/// Handles the parts of an earlier schema version that this one lacks. Values of a removed field are kept beside the
/// record, renamed parts are renamed, and the records of a removed collection are left to the server.
struct SchemaDepartures {
    let schema: Schema
    let db: Database

    /// - Parameter known: the names and types of the fields in the tables, updated by the call.
    /// - Throws: `schemaChanged` for a field of another type, whose values would be lost.
    func run(_ known: inout [String: [String: String]]) throws {
        try CollectionRenaming(schema: schema, db: db).run(&known)
        for (name, fields) in known {
            guard let collection = schema.collection(name) else {
                try leave(name)
                known[name] = nil
                continue
            }
            for (field, type) in fields {
                let now = collection.field(field) ?? collection.fields.first { $0.formerNames.contains(field) }
                if let now, now.type.rawValue != type {
                    throw StoreError(
                        .schemaChanged, "\(name).\(field): was \(type), is now \(now.type.rawValue)")
                }
                guard now?.name != field else { continue }
                try release(field, of: collection)
                known[name]?[field] = nil
                if let now, fields[now.name] == nil {
                    try rename(field, to: now, of: collection)
                    known[name]?[now.name] = type
                } else {
                    try keep(field, type, of: collection)
                }
            }
        }
    }

    /// Removes a collection from the device; its pending writes are sent all the same.
    private func leave(_ collection: String) throws {
        try SearchIndex.drop(collection, db)
        try db.execute(sql: "DROP TABLE IF EXISTS \(CollectionTable.quoted(collection))")
        for sql in [
            "DELETE FROM tidemark_field WHERE collection = ?", "DELETE FROM tidemark_scope_page WHERE collection = ?",
            "DELETE FROM tidemark_tombstone WHERE collection = ?",
            "DELETE FROM tidemark_deletion WHERE collection = ?", "DELETE FROM tidemark_refetch WHERE collection = ?",
            "DELETE FROM tidemark_compare WHERE collection = ?",
            // Any state from the server is accepted, should the collection ever come back.
            "UPDATE tidemark_base SET seq = 0 WHERE collection = ?",
        ] { try db.run(sql, [collection]) }
    }

    /// Releases a column from everything but the table.
    private func release(_ field: String, of collection: CollectionSchema) throws {
        try SearchIndex.drop(collection.name, db)
        let index = CollectionTable.quoted(CollectionIndexes.name(collection.name, field))
        try db.execute(sql: "DROP INDEX IF EXISTS \(index)")
        try db.run("DELETE FROM tidemark_field WHERE collection = ? AND field = ?", [collection.name, field])
    }

    private func rename(_ field: String, to now: FieldSchema, of collection: CollectionSchema) throws {
        let (from, to) = (CollectionTable.quoted(field), CollectionTable.quoted(now.name))
        try db.execute(sql: "ALTER TABLE \(CollectionTable.quoted(collection.name)) RENAME COLUMN \(from) TO \(to)")
        try db.run(
            "INSERT INTO tidemark_field (collection, field, type) VALUES (?, ?, ?)",
            [collection.name, now.name, now.type.rawValue])
        try SchemaRenaming(collection: collection, db: db).run()
    }

    /// Moves values to `extra`, which holds fields unknown to the schema. They are neither shown nor sent, and return
    /// with a version that knows them.
    private func keep(_ field: String, _ type: String, of collection: CollectionSchema) throws {
        let (table, column) = (CollectionTable.quoted(collection.name), CollectionTable.quoted(field))
        let value =
            switch FieldType(rawValue: type) {
            case .boolean: "json(CASE WHEN \(column) THEN 'true' ELSE 'false' END)"
            case .set, .map, .json: "json(\(column))"
            case .string, .integer, .double, .timestamp, .reference, .blob, nil: column
            }
        try db.execute(
            sql: """
                UPDATE \(table) SET extra = json_set(coalesce(extra, '{}'), '$."\(field)"', \(value))
                WHERE \(column) IS NOT NULL
                """)
        try db.execute(sql: "ALTER TABLE \(table) DROP COLUMN \(column)")
    }
}
