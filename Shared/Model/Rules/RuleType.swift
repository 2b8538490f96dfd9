/// The type of an expression, as far as the schema tells.
indirect enum RuleType: Hashable, CustomStringConvertible {
    /// Known only when the rule is evaluated, such as a value of a JSON field.
    case any
    case null
    case boolean
    case integer
    case double
    case text
    case list(RuleType)
    /// A map from texts to values.
    case map(RuleType)
    /// `before` or `after`.
    case record

    /// The type of a field's value.
    init(_ type: FieldType) {
        self =
            switch type {
            case .string, .reference, .blob: .text
            case .integer, .timestamp: .integer
            case .double: .double
            case .boolean: .boolean
            case .set: .list(.text)
            case .map: .map(.any)
            case .json: .any
            }
    }

    init(_ value: FieldValue) {
        self =
            switch value {
            case .null: .null
            case .boolean: .boolean
            case .integer: .integer
            case .double: .double
            case .string: .text
            case .array: .list(.any)
            case .object: .map(.any)
            }
    }

    var description: String {
        switch self {
        case .any: "any value"
        case .null: "null"
        case .boolean: "true or false"
        case .integer: "a whole number"
        case .double: "a number with fraction"
        case .text: "text"
        case .list: "a list"
        case .map: "a map"
        case .record: "a record"
        }
    }

    var isNumber: Bool { self == .integer || self == .double || self == .any }

    /// Whether values of the two types can be equal.
    func canEqual(_ other: RuleType) -> Bool {
        switch (self, other) {
        case (.any, _), (_, .any), (.null, _), (_, .null): true
        case (.list(let one), .list(let other)), (.map(let one), .map(let other)): one.canEqual(other)
        case (.record, .record): false
        default: self == other || (isNumber && other.isNumber)
        }
    }

    /// Whether values of the two types have an order.
    func canOrder(_ other: RuleType) -> Bool {
        switch (self, other) {
        case (.any, .any), (.boolean, .boolean), (.text, .text): true
        case (.any, .boolean), (.any, .text), (.boolean, .any), (.text, .any): true
        default: isNumber && other.isNumber
        }
    }

    /// The type of a value that has one type or the other.
    func joined(_ other: RuleType) -> RuleType { self == other ? self : .any }
}
