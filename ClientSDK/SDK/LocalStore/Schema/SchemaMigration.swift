import GRDB
import TidemarkModel

/// Brings the collections' tables to the app's schema: adds the new parts, after `SchemaDepartures` handled the rest.
struct SchemaMigration {
    let schema: Schema
    let db: Database
    let cache: CachePolicy

    func run() throws {
        var known = try knownFields()
        try SchemaDepartures(schema: schema, db: db).run(&known)
        let tables = Set(known.keys)
        for collection in schema.collections {
            if try !db.tableExists(collection.name) {
                try create(collection)
                // Its records that arrived before this version of the app were not kept: fill it again.
                if !tables.isEmpty { try ScopeFilling(schema: schema, db: db, cache: cache).reopen(for: collection) }
            } else {
                try add(collection.fields.filter { known[collection.name]?[$0.name] == nil }, to: collection)
            }
            try CollectionIndexes(collection).follow(db)
            try SearchIndex(collection).follow(db)
        }
        try CollectionRenaming(schema: schema, db: db).note()
        try Meta.schemaVersion.set(schema.version, db)
    }

    private func knownFields() throws -> [String: [String: String]] {
        var known: [String: [String: String]] = [:]
        for row in try db.all("SELECT collection, field, type FROM tidemark_field") {
            known[try row.text(0), default: [:]][try row.text(1)] = try row.text(2)
        }
        return known
    }

    private func create(_ collection: CollectionSchema) throws {
        var lines = [
            "local_id TEXT PRIMARY KEY NOT NULL", "server_id INTEGER", "scope TEXT NOT NULL", "seq INTEGER NOT NULL",
            "server_time INTEGER", "created_time INTEGER NOT NULL", "author TEXT NOT NULL", "state TEXT NOT NULL",
            "extra TEXT",
        ]
        lines += collection.fields.map { "\(CollectionTable.quoted($0.name)) \($0.type.columnType)" }
        try db.execute(
            sql:
                "CREATE TABLE \(CollectionTable.quoted(collection.name)) (\n    \(lines.joined(separator: ",\n    "))\n)"
        )
        for field in collection.fields { try note(field, of: collection) }
    }

    /// Adds columns, and moves their values from `extra`, which hold what arrived before the app knew the fields.
    /// Reading a row finds them there under any of their names, and writing it stores them in their columns. The rest
    /// stays.
    private func add(_ fields: [FieldSchema], to collection: CollectionSchema) throws {
        guard !fields.isEmpty else { return }
        let table = CollectionTable.quoted(collection.name)
        for field in fields {
            let column = CollectionTable.quoted(field.name)
            try db.execute(sql: "ALTER TABLE \(table) ADD COLUMN \(column) \(field.type.columnType)")
            try note(field, of: collection)
        }
        let rows = CollectionTable(collection, in: schema)
        for id in try db.all("SELECT local_id FROM \(table) WHERE extra IS NOT NULL") {
            guard let row = try db.first(rows.selectSQL, [try id.text(0)]) else { continue }
            var (record, state) = try rows.record(row)
            record.fields = record.fields.renamed(collection.renames)
            try rows.put(record, state: state, db)
        }
    }

    private func note(_ field: FieldSchema, of collection: CollectionSchema) throws {
        try db.run(
            "INSERT INTO tidemark_field (collection, field, type) VALUES (?, ?, ?)",
            [collection.name, field.name, field.type.rawValue])
    }
}
