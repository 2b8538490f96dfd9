public import TidemarkModel

/// A condition that selects records of a collection. Fields have their names in the schema; `id`, `serverID`,
/// `serverTime`, `createdTime`, `author` and `syncState` are values that every record has. If a name or a value's type
/// does not fit, the call that uses the filter throws. An unset field has its default from the schema, if there is one.
/// Values never become part of SQL text.
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
        /// Any of these values; `null` among them matches an unset field.
        case among(String, [FieldValue])
        case prefix(String, String)
        /// A reference to a record of this collection that is on the device and matches.
        case refers(String, String, Node?)
        /// An invalid filter; its error is thrown when it is used.
        case wrong(StoreError)
        case and(Node, Node)
        case or(Node, Node)
        case not(Node)
    }

    let node: Node

    /// Matches when the field has this value; with `null`, when it is not set.
    public static func equals(_ field: String, _ value: FieldValue) -> Filter {
        Filter(node: value == .null ? .isMissing(field) : .compare(field, .equal, value))
    }

    /// Matches when the field has another value or is not set; with `null`, when it is set.
    public static func differs(_ field: String, _ value: FieldValue) -> Filter {
        Filter(node: value == .null ? .not(.isMissing(field)) : .compare(field, .notEqual, value))
    }

    /// Matches when the field is set and smaller.
    public static func less(_ field: String, _ value: FieldValue) -> Filter {
        Filter(node: .compare(field, .less, value))
    }

    /// Matches when the field is set and smaller or equal.
    public static func atMost(_ field: String, _ value: FieldValue) -> Filter {
        Filter(node: .compare(field, .atMost, value))
    }

    /// Matches when the field is set and larger.
    public static func greater(_ field: String, _ value: FieldValue) -> Filter {
        Filter(node: .compare(field, .greater, value))
    }

    /// Matches when the field is set and larger or equal.
    public static func atLeast(_ field: String, _ value: FieldValue) -> Filter {
        Filter(node: .compare(field, .atLeast, value))
    }

    /// Matches when the field is a set with this element.
    public static func contains(_ field: String, _ element: String) -> Filter {
        Filter(node: .contains(field, element))
    }

    /// Matches when the field has one of these values, any number of them; `null` among them matches an unset field.
    public static func isAmong(_ field: String, _ values: [FieldValue]) -> Filter {
        Filter(node: .among(field, values))
    }

    /// Matches when the text begins with these characters, case-sensitively. For words anywhere in a text, use
    /// `Repository.search`.
    public static func hasPrefix(_ field: String, _ prefix: String) -> Filter {
        Filter(node: .prefix(field, prefix))
    }

    /// Matches when both filters match.
    public func and(_ other: Filter) -> Filter { Filter(node: .and(node, other.node)) }
    /// Matches when at least one of the filters matches.
    public func or(_ other: Filter) -> Filter { Filter(node: .or(node, other.node)) }
    /// The filter that matches when this one does not.
    public var negated: Filter { Filter(node: .not(node)) }
}

/// The order of a list of records.
///
///     .ascending("phase").then(.descending("due"))
public struct RecordOrder: Hashable, Sendable {
    enum Key: Hashable, Sendable {
        case creation
        case field(String)
        /// An invalid rule; its error is thrown when it is used.
        case wrong(StoreError)
    }

    struct Term: Hashable, Sendable {
        let key: Key
        let isDescending: Bool
    }

    /// The rules, never empty. Each further rule decides between records that are equal by all rules before it.
    let terms: [Term]

    init(_ terms: [Term]) { self.terms = terms }

    init(key: Key, isDescending: Bool) { terms = [Term(key: key, isDescending: isDescending)] }

    /// The order in which the server numbered the creations; records that it has not seen come last, in the order of
    /// writing.
    public static let oldestFirst = RecordOrder(key: .creation, isDescending: false)
    /// The reverse of `oldestFirst`.
    public static let newestFirst = RecordOrder(key: .creation, isDescending: true)

    /// Sorts by a field's value; records without one come first.
    public static func ascending(_ field: String) -> RecordOrder {
        RecordOrder(key: .field(field), isDescending: false)
    }
    /// Sorts by a field's value, largest first; records without one come last.
    public static func descending(_ field: String) -> RecordOrder {
        RecordOrder(key: .field(field), isDescending: true)
    }

    /// Adds another order for records that are equal by this one.
    public func then(_ other: RecordOrder) -> RecordOrder { RecordOrder(terms + other.terms) }
}
