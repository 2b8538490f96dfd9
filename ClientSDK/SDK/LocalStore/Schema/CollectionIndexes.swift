import GRDB
import TidemarkModel

/// The indexes of one collection's table: one of its scope, and those of the fields that the schema declares as
/// indexed.
///
/// Their names contain characters that no name of a collection or field can, so that no two are equal:
/// `tidemark_index(orders.due)`.
struct CollectionIndexes {
    let collection: CollectionSchema

    init(_ collection: CollectionSchema) { self.collection = collection }

    static func name(_ collection: String, _ column: String) -> String { "tidemark_index(\(collection).\(column))" }

    /// Creates the indexes that the schema wants, and replaces those that differ.
    func follow(_ db: Database) throws {
        var there: [String: String] = [:]
        let indexes = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
        for row in try db.all(indexes, [collection.name]) { there[try row.text(0)] = try row.text(1) }
        for (name, sql) in wanted where there[name] != sql {
            // Another default value makes another index.
            if there[name] != nil { try db.execute(sql: "DROP INDEX \(CollectionTable.quoted(name))") }
            try db.execute(sql: sql)
        }
    }

    /// Returns the indexes of the schema. The common query pages through a scope in the order of a field. An index of a
    /// collection whose scopes hold many records therefore starts with the scope. The common count is of the records by
    /// others after some number: with the author in the index no record is read for it.
    private var wanted: [(name: String, sql: String)] {
        var wanted = [index(of: "scope", "scope, server_id, author")]
        for field in collection.fields where field.isIndexed || field.name == collection.keyField {
            let value = field.valueSQL()
            // A key exists only once, whatever the scope.
            let isInScope = if case .field = collection.scope { field.name != collection.keyField } else { false }
            wanted.append(index(of: field.name, isInScope ? "scope, \(value)" : value))
        }
        return wanted
    }

    private func index(of column: String, _ columns: String) -> (name: String, sql: String) {
        let name = Self.name(collection.name, column)
        let table = CollectionTable.quoted(collection.name)
        return (name, "CREATE INDEX \(CollectionTable.quoted(name)) ON \(table) (\(columns))")
    }
}
