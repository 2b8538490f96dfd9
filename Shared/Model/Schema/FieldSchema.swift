/// One field of a collection.
public struct FieldSchema: Hashable, Sendable {
    public var name: String
    public var type: FieldType
    /// True when the field must be present and not null at creation.
    public var isRequired = false
    /// The largest size: bytes of UTF-8 for text, elements for a set, bytes of JSON for map and JSON.
    public var sizeMax: Int
    public var merge: MergeRule = .lww
    /// The rule for changing the field; `nil` leaves it to the collection.
    public var change: Set<Accessor>?
    /// The rule for giving the field a value at the record's creation; `nil` leaves it to ``change``, and without that
    /// to the collection.
    public var create: Set<Accessor>?
    /// True when the client's table has an index on it.
    public var isIndexed = false
    /// True when full-text search covers the field.
    public var isSearchable = false
    /// The names that the field had in earlier versions of the schema, oldest first. Devices move values that they hold
    /// under these names here; server and wire use the first one forever.
    public var formerNames: [String] = []
    /// The collection whose records a reference names.
    public var target: String?
    /// True when the reference must name a record in the same scope.
    public var isWithinScope = false
    /// The value that readers get from a record without one; `nil` if they see that it is absent. It is never stored.
    public var defaultValue: FieldValue?
    /// The constraints beside type, rule and size; `nil` if there are none.
    package var constraint: FieldConstraint?

    /// Creates a field with the default rule and limits of its type.
    public init(name: String, type: FieldType) {
        self.name = name
        self.type = type
        sizeMax = Self.defaultSizeMax(type)
    }

    /// The name under which server and wire know the field.
    public var storedName: String { formerNames.first ?? name }

    /// The largest `max` that a schema may give a field: the largest record that a server may allow.
    static let sizeMaxLargest = 3_145_728

    static func defaultSizeMax(_ type: FieldType) -> Int {
        switch type {
        case .string: 65_536
        case .set: 10_000
        case .map, .json: 65_536
        case .integer, .double, .boolean, .timestamp, .reference, .blob: 128
        }
    }
}

/// A kind of user that an access rule admits; the raw value is the name in a schema file.
public enum Accessor: String, Sendable, Hashable, CaseIterable {
    /// Every authenticated user of the workspace; only shared scopes and `create` of a scope's own record use it.
    case anyone
    case member
    case admin
    case owner
    /// The creator of the record.
    case author
    /// Service principals only; they pass every other rule too.
    case server
}

/// The type of a field's values. The raw value is the name in a schema file.
public enum FieldType: String, Sendable, Hashable, CaseIterable {
    case string
    case integer
    case double
    case boolean
    /// Milliseconds since 1970 as an integer.
    case timestamp
    /// The `localID` of another record, as text.
    case reference
    /// An array of strings, each once, sorted.
    case set
    /// An object of scalars.
    case map
    /// Any JSON value.
    case json
    /// The lowercase SHA-256 of a blob kept elsewhere.
    case blob
}

extension FieldType {
    /// Whether a field of the type may have a default: a single value that orders and indexes can use.
    var takesDefault: Bool {
        switch self {
        case .string, .integer, .double, .boolean, .timestamp: true
        case .reference, .set, .map, .json, .blob: false
        }
    }

    /// Returns the value in its canonical form (`3` becomes `3.0` in a double, a set is sorted), or `nil` if it does
    /// not fit.
    package func canonical(_ value: FieldValue) -> FieldValue? {
        switch (self, value) {
        case (.string, .string), (.boolean, .boolean), (.integer, .integer), (.timestamp, .integer), (.double, .double):
            return value
        case (.double, .integer(let number)):
            return .double(Double(number))
        case (.reference, .string(let text)):
            guard let id = UniqueID(text) else { return nil }
            return text.utf8.contains { (65...70).contains($0) } ? .string(id.description) : value
        case (.blob, .string(let text)):
            let isDigest =
                text.utf8.count == 64 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
            return isDigest ? value : nil
        case (.set, .array(let elements)):
            return SetMerge.canonical(elements).map { .array($0) }
        case (.map, .object(let fields)):
            let isFlat = fields.entries.allSatisfy { entry in
                switch entry.value {
                case .array, .object: false
                case .null, .boolean, .integer, .double, .string: true
                }
            }
            return isFlat ? value : nil
        case (.json, _):
            return value
        default:
            return nil
        }
    }
}

/// The rule by which concurrent writes of one field are merged; the raw value is the name in a schema file.
///
/// The server applies patches in the order in which it accepts them, so a rule never needs a clock.
public enum MergeRule: String, Sendable, Hashable, CaseIterable {
    /// The last accepted write wins.
    case lww
    /// Set at creation, never changed.
    case immutable
    /// A set that only grows.
    case set
    /// A set whose elements are added and removed one by one; the last write of each element wins.
    case elements
    /// A map whose keys are set and removed one by one; the last write of each key wins.
    case keys
    /// A number that is added to; every accepted increment counts once.
    case counter
    /// The largest value written wins.
    case max
    /// A write that has not seen the value that it would replace leaves the field as it is; the app resolves it.
    case manual
    /// Only a service principal writes it.
    case server
}

extension FieldSchema {
    /// The rule for giving the field a value at the creation; `nil` admits everybody who may create the record.
    package var creators: Set<Accessor>? { create ?? change }

    /// Whether a record with this value is read like one without a value. Models write such a value for every property
    /// that they have.
    package func isAbsence(_ value: FieldValue) -> Bool {
        switch value {
        case .null: true
        case .array(let elements): elements.isEmpty
        case .object(let members): members.entries.isEmpty
        case .boolean, .integer, .double, .string: value == defaultValue
        }
    }

    /// Returns the value in its canonical form under the field's type and rule, or `nil` if it does not fit.
    package func canonical(_ value: FieldValue) -> FieldValue? {
        let canonical = type.canonical(value)
        guard merge == .keys, case .object(let map)? = canonical else { return canonical }
        return .object(MapMerge.canonical(map))
    }
}
