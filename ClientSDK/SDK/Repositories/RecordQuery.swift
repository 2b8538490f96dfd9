import GRDB
import TidemarkModel

/// A list of records as one SELECT, checked against the schema.
struct RecordQuery: Sendable {
    private let table: CollectionTable
    private let sql: String
    private let arguments: StatementArguments

    /// - Throws: `StoreError` with `unknownName` for a field that the schema does not have, `coding` for a value of a
    ///   type that the field does not have.
    init(_ table: CollectionTable, where filter: Filter?, orderBy order: RecordOrder, limit: Int?, in scope: ScopeID?)
        throws
    {
        self.table = table
        var writer = Writer(table: table)
        var conditions: [String] = []
        if let scope {
            conditions.append("scope = ?")
            writer.values.append(scope.text.databaseValue)
        }
        if let filter { conditions.append(try writer.condition(filter.node)) }
        var sql = "SELECT \(table.columnsSQL) FROM \(CollectionTable.quoted(table.collection.name))"
        if !conditions.isEmpty { sql += " WHERE \(conditions.joined(separator: " AND "))" }
        sql += try " ORDER BY \(writer.order(order))"
        if let limit {
            sql += " LIMIT ?"
            writer.values.append(limit.databaseValue)
        }
        self.sql = sql
        arguments = StatementArguments(writer.values)
    }

    func fetch(_ db: Database) throws -> [StoredRow] {
        var rows: [StoredRow] = []
        let cursor = try Row.fetchCursor(try db.cachedStatement(sql: sql), arguments: arguments)
        while let row = try cursor.next() {
            let (record, state) = try table.record(row)
            rows.append(StoredRow(record: record, state: state))
        }
        return rows
    }

    /// One record by its key.
    static func one(_ key: RecordKey, _ db: Database, _ database: LocalDatabase) throws -> StoredRow? {
        let table = try database.table(key.collection)
        guard let row = try db.first(table.selectSQL, [key.id.description]) else { return nil }
        let (record, state) = try table.record(row)
        return StoredRow(record: record, state: state)
    }

    /// Conditions and orders in SQL, with the values that go with them.
    struct Writer {
        let table: CollectionTable
        var values: [DatabaseValue] = []

        mutating func condition(_ node: Filter.Node) throws -> String {
            switch node {
            case .compare(let name, let comparison, let value):
                let (column, type) = try column(name)
                guard let bound = type.canonical(value).flatMap({ type.databaseValue($0) }) else {
                    throw StoreError(
                        .coding, "\(table.collection.name).\(name): must be \(type.rawValue), not \(value.kind)")
                }
                values.append(bound)
                return "\(column) \(comparison.rawValue) ?"
            case .isMissing(let name): return "\(try column(name).column) IS NULL"
            case .contains(let name, let element):
                let (column, type) = try column(name)
                guard type == .set else {
                    throw StoreError(.coding, "\(table.collection.name).\(name): is no set")
                }
                values.append(element.databaseValue)
                return "EXISTS (SELECT 1 FROM json_each(\(column)) WHERE json_each.value = ?)"
            case .and(let left, let right): return "(\(try condition(left)) AND \(try condition(right)))"
            case .or(let left, let right): return "(\(try condition(left)) OR \(try condition(right)))"
            case .not(let inner): return "(\(try condition(inner))) IS NOT TRUE"
            }
        }

        func order(_ order: RecordOrder) throws -> String {
            let direction = order.isDescending ? " DESC" : ""
            switch order.key {
            case .creation: return "server_id IS NULL\(direction), server_id\(direction), rowid\(direction)"
            case .field(let name): return "\(try column(name).column)\(direction), rowid\(direction)"
            }
        }

        private func column(_ name: String) throws -> (column: String, type: FieldType) {
            if let field = table.collection.field(name) { return (CollectionTable.quoted(field.name), field.type) }
            if let envelope = EnvelopeColumn(rawValue: name) { return (envelope.column, envelope.type) }
            throw StoreError(.unknownName, "\(table.collection.name).\(name): no such field in the schema")
        }
    }
}

/// A row as it was read, for comparing before it becomes a model.
struct StoredRow: Hashable, Sendable {
    var record: LocalRecord
    var state: RecordState
}
