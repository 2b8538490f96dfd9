/// One field of a collection.
public struct FieldSchema: Hashable, Sendable {
    public var name: String
    public var type: FieldType
    /// Must be present and not null at creation.
    public var isRequired = false
    /// Largest size: bytes of UTF-8 for text, elements for a set, bytes of JSON for map and JSON.
    public var sizeMax: Int
    public var merge: MergeRule = .lww
    /// Who may change the field after creation; `nil` leaves it to the collection.
    public var change: Set<Accessor>?
    /// The client's table gets an index on it.
    public var isIndexed = false
    /// The field takes part in full-text search.
    public var isSearchable = false
    /// The names that the field had in earlier versions of the schema, the first one first: what devices hold under them
    /// moves here, and server and wire know the field by the first for ever.
    public var formerNames: [String] = []
    /// The collection whose records a reference names.
    public var target: String?
    /// What a record that has no value in the field is read as; `nil` where the absence is shown. It is never stored.
    public var defaultValue: FieldValue?

    /// A field with the default rule and limits of its type.
    public init(name: String, type: FieldType) {
        self.name = name
        self.type = type
        sizeMax = Self.defaultSizeMax(type)
    }

    /// The name under which server and wire know the field.
    public var storedName: String { formerNames.first ?? name }

    /// The most that a document may allow a field: as much as a server may allow a record.
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

/// Who an access rule admits; the raw value is the name in a schema file.
public enum Accessor: String, Sendable, Hashable, CaseIterable {
    /// Every authenticated user of the workspace; only `create` of a scope's own record and shared scopes make use of it.
    case anyone
    case member
    case admin
    case owner
    /// The creator of the record.
    case author
    /// Service principals only; they pass every other rule too.
    case server
}
