import GRDB
import TidemarkModel

/// A list of records as the clause of a SELECT, checked against the schema.
struct RecordQuery: Sendable {
    /// What follows the name of the table.
    let clause: String
    let arguments: [DatabaseValue]

    /// - Throws: `StoreError` with `unknownName` for a field that the schema does not have, `coding` for a value of a
    ///   type that the field does not have.
    init(_ table: CollectionTable, where filter: Filter?, orderBy order: RecordOrder, limit: Int?, in scope: ScopeID?)
        throws
    {
        var writer = Writer(table: table)
        var clause = ""
        if let scope {
            clause = "WHERE scope = ?"
            writer.values.append(scope.text.databaseValue)
        }
        if let filter { clause += "\(clause.isEmpty ? "WHERE" : " AND") \(try writer.condition(filter.node))" }
        clause += try " ORDER BY \(writer.order(order))"
        if let limit {
            clause += " LIMIT ?"
            writer.values.append(limit.databaseValue)
        }
        self.clause = clause
        arguments = writer.values
    }

    /// One record by its id.
    init(_ id: UniqueID) {
        clause = "WHERE local_id = ?"
        arguments = [id.description.databaseValue]
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
