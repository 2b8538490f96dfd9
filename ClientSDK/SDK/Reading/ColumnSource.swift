import TidemarkModel

/// The current row of a query, by the names of its columns, for a decoder.
protocol ColumnSource: AnyObject {
    /// What its values are to a decoder: fields of a schema, or columns of which nobody knows the type.
    static var valueSource: FieldDecoder.Source { get }

    /// Where a coding key's value stands; the place of one that is not there has no value.
    func place(_ name: String) throws -> Int
    /// The value as SQLite's column has it; `nil` when it has to be looked at more closely.
    func direct<Value: ColumnConvertible>(_ place: Int) -> Value?
    /// A value that takes more than a column's, such as a nested struct.
    func requiredIndirectly<Value: Decodable>(_ place: Int) throws -> Value
    /// The same, or `nil` when it is not set.
    func optionalIndirectly<Value: Decodable>(_ place: Int) throws -> Value?
    /// The value at a place as a field; `nil` when it is not set.
    func value(_ place: Int) throws -> FieldValue?
    /// Everything that the row has.
    func fields() throws -> Fields
}

extension ColumnSource {
    /// The value that nobody can do without.
    @inline(__always)
    func required<Value: ColumnConvertible>(_ place: Int) throws -> Value {
        if let value = direct(place) as Value? { return value }
        return try requiredIndirectly(place)
    }

    /// The value, or `nil` when it is not set.
    @inline(__always)
    func optional<Value: ColumnConvertible>(_ place: Int) throws -> Value? {
        if let value = direct(place) as Value? { return value }
        return try optionalIndirectly(place)
    }
}
