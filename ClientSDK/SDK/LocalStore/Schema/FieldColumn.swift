import GRDB
import TidemarkModel

extension FieldSchema {
    /// Returns the SQL of the value as it is read: the column, or the default if it is empty. An index uses the same
    /// text, or SQLite would not recognise it.
    func valueSQL(_ qualifier: String = "") -> String {
        let column = qualifier + CollectionTable.quoted(name)
        guard let literal = defaultValue?.literalSQL else { return column }
        return "ifnull(\(column), \(literal))"
    }
}

extension FieldValue {
    /// The value as an SQL literal; `nil` for a value that cannot be a default.
    fileprivate var literalSQL: String? {
        switch self {
        case .boolean(let flag): flag ? "1" : "0"
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): "'\(text.replacing("'", with: "''"))'"
        case .null, .array, .object: nil
        }
    }
}

/// The representation of a field's value in its column.
extension FieldType {
    /// The column's declared type.
    var columnType: String {
        switch self {
        case .string, .reference, .blob, .set, .map, .json: "TEXT"
        case .integer, .boolean, .timestamp: "INTEGER"
        case .double: "REAL"
        }
    }

    /// Returns the column's value; `nil` for a value that the type cannot hold, which then is kept in `extra`.
    func databaseValue(_ value: FieldValue) -> DatabaseValue? {
        switch (self, value) {
        case (.string, .string(let text)), (.reference, .string(let text)), (.blob, .string(let text)):
            // SQLite's text ends at a NUL; JSON's does not.
            text.utf8.contains(0) ? nil : text.databaseValue
        case (.integer, .integer(let number)), (.timestamp, .integer(let number)): number.databaseValue
        case (.boolean, .boolean(let flag)): (flag ? 1 : 0).databaseValue
        case (.double, .double(let number)): number.databaseValue
        case (.double, .integer(let number)): Double(number).databaseValue
        case (.set, .array), (.map, .object): value.json.databaseValue
        case (.json, _) where value != .null: value.json.databaseValue
        default: nil
        }
    }

    /// Returns the field's value; `nil` for a column that is NULL.
    ///
    /// - Throws: `corrupt` for a value that `databaseValue(_:)` never writes.
    func fieldValue(_ column: DatabaseValue) throws -> FieldValue? {
        switch (self, column.storage) {
        case (_, .null): return nil
        case (.string, .string(let text)), (.reference, .string(let text)), (.blob, .string(let text)):
            return .string(text)
        case (.integer, .int64(let number)), (.timestamp, .int64(let number)): return .integer(number)
        case (.boolean, .int64(let number)): return .boolean(number != 0)
        case (.double, .double(let number)): return .double(number)
        case (.double, .int64(let number)): return .double(Double(number))
        case (.set, .string(let text)), (.map, .string(let text)), (.json, .string(let text)):
            do {
                return try JSONReader.read(Array(text.utf8)) { try $0.value() }
            } catch {
                throw StoreError(.corrupt, "a \(rawValue) column does not hold JSON: \(error)")
            }
        default: throw StoreError(.corrupt, "a \(rawValue) column holds another type")
        }
    }
}
