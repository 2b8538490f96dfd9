/// The value of one field, as JSON knows it, with integers kept apart from floating point.
///
/// Strings are equal when their bytes are: two spellings of one character are two values.
public enum FieldValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([FieldValue])
    case object(Fields)

    /// The word used in error messages: `string`, `integer`, ….
    package var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "boolean"
        case .integer: "integer"
        case .double: "double"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    /// The value as canonical JSON: object keys sorted by their UTF-8 bytes, no white space.
    public var json: String {
        var writer = JSONWriter()
        writer.value(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension FieldValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(arrayLiteral elements: FieldValue...) { self = .array(elements) }
}

extension FieldValue {
    /// A total order within numbers and within strings; `nil` where two values do not compare.
    package func isLess(than other: FieldValue) -> Bool? {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.double(let left), .double(let right)): left < right
        case (.integer(let left), .double(let right)): Double(left) < right
        case (.double(let left), .integer(let right)): left < Double(right)
        case (.string(let left), .string(let right)): left.byteOrder(right) < 0
        default: nil
        }
    }
}
