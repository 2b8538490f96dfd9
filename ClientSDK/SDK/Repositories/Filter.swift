public import TidemarkModel

/// Which records of a collection are meant. Fields go by their names in the schema, and `id`, `serverID`, `serverTime`,
/// `createdTime`, `author` and `syncState` name what every record has; a name or a value's type that does not fit is an error when the
/// filter is used. A field that is not set has the value that the schema declares as its default, if it does. Values never
/// become part of SQL text.
///
///     .equals("status", "ready").and(.atLeast("sentAt", .date(yesterday)))
public struct Filter: Hashable, Sendable {
    enum Comparison: String, Hashable, Sendable {
        case less = "<"
        case atMost = "<="
        case equal = "="
        case notEqual = "IS NOT"
        case atLeast = ">="
        case greater = ">"
    }

    indirect enum Node: Hashable, Sendable {
        case compare(String, Comparison, FieldValue)
        case isMissing(String)
        case contains(String, String)
        /// Any of these values; `null` among them is a field that is not set.
        case among(String, [FieldValue])
        case prefix(String, String)
        /// A reference names a record of this collection that is here and fits.
        case refers(String, String, Node?)
        /// Cannot be asked; says why when it is used.
        case wrong(StoreError)
        case and(Node, Node)
        case or(Node, Node)
        case not(Node)
    }

    let node: Node

    /// The field is set to this value; for `null`, is not set.
    public static func equals(_ field: String, _ value: FieldValue) -> Filter {
        Filter(node: value == .null ? .isMissing(field) : .compare(field, .equal, value))
    }

    /// The field is not set, or to another value.
    public static func differs(_ field: String, _ value: FieldValue) -> Filter {
        Filter(node: value == .null ? .not(.isMissing(field)) : .compare(field, .notEqual, value))
    }

    /// The field is set and smaller.
    public static func less(_ field: String, _ value: FieldValue) -> Filter {
        Filter(node: .compare(field, .less, value))
    }

    /// The field is set and smaller or equal.
    public static func atMost(_ field: String, _ value: FieldValue) -> Filter {
        Filter(node: .compare(field, .atMost, value))
    }

    /// The field is set and larger.
    public static func greater(_ field: String, _ value: FieldValue) -> Filter {
        Filter(node: .compare(field, .greater, value))
    }

    /// The field is set and larger or equal.
    public static func atLeast(_ field: String, _ value: FieldValue) -> Filter {
        Filter(node: .compare(field, .atLeast, value))
    }

    /// The set field has this element.
    public static func contains(_ field: String, _ element: String) -> Filter {
        Filter(node: .contains(field, element))
    }

    /// The field has one of these values, however many there are; `null` among them stands for a field that is not set.
    public static func isAmong(_ field: String, _ values: [FieldValue]) -> Filter {
        Filter(node: .among(field, values))
    }

    /// The text begins with these characters, in this case. For words anywhere in a text there is `Repository.search`.
    public static func hasPrefix(_ field: String, _ prefix: String) -> Filter {
        Filter(node: .prefix(field, prefix))
    }

    /// Both hold.
    public func and(_ other: Filter) -> Filter { Filter(node: .and(node, other.node)) }
    /// At least one holds.
    public func or(_ other: Filter) -> Filter { Filter(node: .or(node, other.node)) }
    /// The filter does not hold.
    public var negated: Filter { Filter(node: .not(node)) }
}

/// The order of a list of records.
///
///     .ascending("phase").then(.descending("due"))
public struct RecordOrder: Hashable, Sendable {
    enum Key: Hashable, Sendable {
        case creation
        case field(String)
        /// Cannot be ordered by; says why when it is used.
        case wrong(StoreError)
    }

    struct Term: Hashable, Sendable {
        let key: Key
        let isDescending: Bool
    }

    /// Those after the first decide between records that are equal by the ones before; never empty.
    let terms: [Term]

    init(_ terms: [Term]) { self.terms = terms }

    init(key: Key, isDescending: Bool) { terms = [Term(key: key, isDescending: isDescending)] }

    /// As the server numbered the creations; what it has not seen comes last, in the order of writing.
    public static let oldestFirst = RecordOrder(key: .creation, isDescending: false)
    /// The other way round.
    public static let newestFirst = RecordOrder(key: .creation, isDescending: true)

    /// By a field's value; records without one come first.
    public static func ascending(_ field: String) -> RecordOrder {
        RecordOrder(key: .field(field), isDescending: false)
    }
    /// By a field's value, largest first; records without one come last.
    public static func descending(_ field: String) -> RecordOrder {
        RecordOrder(key: .field(field), isDescending: true)
    }

    /// Another order for records that are equal by this one.
    public func then(_ other: RecordOrder) -> RecordOrder { RecordOrder(terms + other.terms) }
}
