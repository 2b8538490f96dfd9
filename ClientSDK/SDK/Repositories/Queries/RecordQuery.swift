import GRDB
import TidemarkModel

/// A list of records as the clause of a SELECT, checked against the schema.
struct RecordQuery: Sendable {
    /// The SQL after the name of the table.
    let clause: String
    let arguments: [DatabaseValue]
    /// The fields that the filter uses.
    let filtered: Set<String>

    /// - Parameter continuation: a record of the order; only records after it are selected.
    /// - Throws: `StoreError` with `unknownName` for a field that the schema does not have, `coding` for a value of a
    ///   type that does not fit the field.
    init(
        _ table: CollectionTable, where filter: Filter?, order: RecordOrder, limit: Int?, in scope: ScopeID?,
        after continuation: Continuation? = nil
    ) throws {
        try StoreError.check(limit: limit)
        var writer = Writer(table: table)
        var clause = try writer.choice(filter, scope, continuation.map { ($0, order) })
        clause += try " ORDER BY \(writer.order(order))"
        if let limit {
            clause += " LIMIT ?"
            writer.values.append(limit.databaseValue)
        }
        self.clause = clause
        arguments = writer.values
        filtered = writer.filtered
    }

    /// Creates a query that counts the records.
    init(counting table: CollectionTable, where filter: Filter?, in scope: ScopeID?) throws {
        var writer = Writer(table: table)
        clause = try writer.choice(filter, scope, nil)
        arguments = writer.values
        filtered = writer.filtered
    }

    /// Creates a query for one record by its id.
    init(_ id: UniqueID) {
        clause = "WHERE local_id = ?"
        arguments = [id.description.databaseValue]
        filtered = []
    }

    /// Creates a query for records by their ids.
    init(_ ids: some Sequence<UniqueID>) {
        clause = "WHERE local_id IN (SELECT value FROM json_each(?))"
        arguments = [FieldValue.array(ids.map { .string($0.description) }).json.databaseValue]
        filtered = []
    }

    /// Writes conditions and orders as SQL, and collects their values.
    struct Writer {
        let collection: CollectionSchema
        let schema: Schema
        /// The prefix of each column, so that no other table or function is mistaken for it: `"cards".`.
        let qualifier: String
        var values: [DatabaseValue] = []
        private(set) var filtered: Set<String> = []

        init(table: CollectionTable) { self.init(table.collection, table.schema) }

        private init(_ collection: CollectionSchema, _ schema: Schema) {
            self.collection = collection
            self.schema = schema
            qualifier = "\(CollectionTable.quoted(collection.name))."
        }

        /// The table's name in SQL.
        var quotedName: String { CollectionTable.quoted(collection.name) }

        /// Returns the WHERE clause; empty when all records are selected.
        mutating func choice(
            _ filter: Filter?, _ scope: ScopeID?, _ continuation: (Continuation, RecordOrder)?
        ) throws -> String {
            var conditions: [String] = []
            if let scope {
                conditions.append("\(qualifier)scope = ?")
                values.append(scope.text.databaseValue)
            }
            if let filter { conditions.append(try condition(filter.node)) }
            if let (continuation, order) = continuation {
                conditions.append(try continuation.condition(order, &self))
            }
            return conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
        }

        mutating func condition(_ node: Filter.Node) throws -> String {
            switch node {
            case .compare(let name, let comparison, let value):
                let (column, type) = try asked(name)
                values.append(try bound(value, type, name))
                return "\(column) \(comparison.rawValue) ?"
            case .isMissing(let name): return "\(try asked(name).column) IS NULL"
            case .contains(let name, let element):
                let (column, type) = try asked(name)
                guard type == .set else {
                    throw StoreError(.coding, "\(collection.name).\(name): is not a set")
                }
                values.append(element.databaseValue)
                return "EXISTS (SELECT 1 FROM json_each(\(column)) WHERE json_each.value = ?)"
            case .among(let name, let options): return try among(name, options)
            case .prefix(let name, let prefix): return try begins(name, prefix)
            case .refers(let name, let target, let inner): return try refers(name, target, inner)
            case .and(let left, let right): return "(\(try condition(left)) AND \(try condition(right)))"
            case .or(let left, let right): return "(\(try condition(left)) OR \(try condition(right)))"
            case .not(let inner): return "ifnull((\(try condition(inner))), 0) = 0"
            case .wrong(let error): throw error
            }
        }

        /// Uses one argument for any number of values, so that the statement stays the same.
        private mutating func among(_ name: String, _ options: [FieldValue]) throws -> String {
            let (column, type) = try asked(name)
            let list = try options.filter { $0 != .null }.map { try bound($0, type, name).listed }
            values.append(FieldValue.array(list).json.databaseValue)
            let isListed = "\(column) IN (SELECT value FROM json_each(?))"
            return options.contains(.null) ? "(\(isListed) OR \(column) IS NULL)" : isListed
        }

        private mutating func refers(_ name: String, _ target: String, _ inner: Filter.Node?) throws -> String {
            let column = try asked(name).column
            var other = Writer(try collection.target(of: name, as: target, in: schema), schema)
            let condition = try inner.map { " WHERE \(try other.condition($0))" } ?? ""
            values += other.values
            return "\(column) IN (SELECT local_id FROM \(other.quotedName)\(condition))"
        }

        /// Writes a prefix as a range, which an index can use.
        private mutating func begins(_ name: String, _ prefix: String) throws -> String {
            let (column, type) = try asked(name)
            guard type == .string || type == .blob || type == .reference else {
                throw StoreError(.coding, "\(collection.name).\(name): is not text")
            }
            values.append(prefix.databaseValue)
            guard let end = prefix.firstWithoutPrefix else { return "\(column) >= ?" }
            values.append(end.databaseValue)
            return "(\(column) >= ? AND \(column) < ?)"
        }

        /// Returns a value as the column stores it.
        func bound(_ value: FieldValue, _ type: FieldType, _ name: String) throws -> DatabaseValue {
            guard let bound = type.canonical(value).flatMap({ type.databaseValue($0) }) else {
                throw StoreError(
                    .coding, "\(collection.name).\(name): must be \(type.rawValue), not \(value.kind)")
            }
            return bound
        }

        func order(_ order: RecordOrder) throws -> String {
            var terms: [String] = []
            for term in order.terms {
                let direction = term.isDescending ? " DESC" : ""
                switch term.key {
                case .creation:
                    terms.append("\(qualifier)server_id IS NULL\(direction), \(qualifier)server_id\(direction)")
                case .field(let name): terms.append("\(try column(name).column)\(direction)")
                case .wrong(let error): throw error
                }
            }
            let direction = order.terms.last?.isDescending == true ? " DESC" : ""
            return (terms + ["\(qualifier)_rowid_\(direction)"]).joined(separator: ", ")
        }

        private mutating func asked(_ name: String) throws -> (column: String, type: FieldType) {
            filtered.insert(name)
            return try column(name)
        }

        func column(_ name: String) throws -> (column: String, type: FieldType) {
            if let field = collection.field(collection.fieldName(name)) {
                return (field.valueSQL(qualifier), field.type)
            }
            if let envelope = EnvelopeColumn(rawValue: name) { return (qualifier + envelope.column, envelope.type) }
            throw StoreError(.unknownName, "\(collection.name).\(name): no such field in the schema")
        }
    }
}

extension CollectionSchema {
    /// Returns the collection to whose records a reference refers.
    ///
    /// - Throws: `StoreError` with `unknownName` when the field is not a reference, or is one to records of another
    ///   collection.
    func target(of name: String, as target: String, in schema: Schema) throws(StoreError) -> CollectionSchema {
        guard field(name)?.type == .reference || field(name) == nil && name == EnvelopeColumn.id.rawValue else {
            throw StoreError(.unknownName, "\(self.name).\(name): is not a reference in the schema")
        }
        if let declared = field(name)?.target, declared != target {
            throw StoreError(.unknownName, "\(self.name).\(name): refers to \(declared), and not to \(target)")
        }
        guard let collection = schema.collection(target) else {
            throw StoreError(.unknownName, "\(self.name).\(name): the schema has no collection \(target)")
        }
        return collection
    }
}

extension DatabaseValue {
    /// The value as an element of a JSON array that SQLite parses again.
    fileprivate var listed: FieldValue {
        switch storage {
        case .int64(let number): .integer(number)
        case .double(let number): .double(number)
        case .string(let text): .string(text)
        case .null, .blob: .null
        }
    }
}

extension String {
    /// The first text, by bytes, after all those that begin with this one; `nil` when there is none.
    var firstWithoutPrefix: String? {
        var scalars = Array(unicodeScalars)
        while let last = scalars.popLast() {
            // Surrogates follow D7FF; they are not characters.
            let next = last.value == 0xd7ff ? 0xe000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            var text = String.UnicodeScalarView(scalars)
            text.append(scalar)
            return String(text)
        }
        return nil
    }
}

/// A row as it was read, to be compared before it becomes a model.
struct StoredRow: Hashable, Sendable {
    var record: LocalRecord
    var state: RecordState
}
