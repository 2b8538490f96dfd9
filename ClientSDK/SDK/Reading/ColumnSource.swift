import TidemarkModel

/// The current row of a query, by the names of its columns, for a decoder.
protocol ColumnSource: AnyObject {
    /// The kind of its values for a decoder: fields of a schema, or columns of unknown types.
    static var valueSource: FieldDecoder.Source { get }

    /// Returns the index of a coding key's value; the index of an unknown key has no value.
    func index(of name: String) throws -> Int
    /// Returns the value straight from SQLite's column; `nil` when it needs a closer look.
    func direct<Value: ColumnConvertible>(_ index: Int) -> Value?
    /// Returns a value that needs more than one column's value, such as a nested struct.
    func requiredIndirectly<Value: Decodable>(_ index: Int) throws -> Value
    /// Returns the same, or `nil` when it is not set.
    func optionalIndirectly<Value: Decodable>(_ index: Int) throws -> Value?
    /// Returns the value at an index as a field; `nil` when it is not set.
    func value(_ index: Int) throws -> FieldValue?
    /// Returns all values of the row.
    func fields() throws -> Fields
}

extension ColumnSource {
    /// Returns a value that must be set.
    @inline(__always)
    func required<Value: ColumnConvertible>(_ index: Int) throws -> Value {
        if let value = direct(index) as Value? { return value }
        return try requiredIndirectly(index)
    }

    /// Returns the value, or `nil` when it is not set.
    @inline(__always)
    func optional<Value: ColumnConvertible>(_ index: Int) throws -> Value? {
        if let value = direct(index) as Value? { return value }
        return try optionalIndirectly(index)
    }
}
