import GRDB
import TidemarkModel

/// Columns by position, with an error instead of a trap when a file was tampered with.
extension Row {
    func text(_ index: Int) throws -> String {
        guard let text = try optionalText(index) else { throw StoreError(.corrupt, "column \(index) is missing") }
        return text
    }

    func optionalText(_ index: Int) throws -> String? {
        switch (self[index] as DatabaseValue).storage {
        case .null: return nil
        case .string(let text): return text
        case .int64, .double, .blob: throw StoreError(.corrupt, "column \(index) holds no text")
        }
    }

    func integer(_ index: Int) throws -> Int64 {
        guard let number = try optionalInteger(index) else { throw StoreError(.corrupt, "column \(index) is missing") }
        return number
    }

    func optionalInteger(_ index: Int) throws -> Int64? {
        switch (self[index] as DatabaseValue).storage {
        case .null: return nil
        case .int64(let number): return number
        case .double, .string, .blob: throw StoreError(.corrupt, "column \(index) holds no integer")
        }
    }

    func id(_ index: Int) throws -> UniqueID {
        guard let id = UniqueID(try text(index)) else { throw StoreError(.corrupt, "column \(index) holds no UUID") }
        return id
    }

    func key(_ index: Int) throws -> RecordKey {
        RecordKey(collection: try text(index), id: try id(index + 1))
    }
}

/// Statements of this module, prepared once a connection.
extension Database {
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func first(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        try Row.fetchOne(try reading(sql), arguments: arguments)
    }

    func all(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        try Row.fetchAll(try reading(sql), arguments: arguments)
    }

    /// Returns true when the query gives a row.
    func exists(_ sql: String, _ arguments: StatementArguments = []) throws -> Bool {
        try first(sql, arguments) != nil
    }
}

extension RecordKey {
    /// Collection and id, as every internal table names a record.
    var arguments: StatementArguments { [collection, id.description] }
}
