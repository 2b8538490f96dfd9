/// Where a collection's records belong.
public enum ScopeRule: Hashable, Sendable {
    /// Each record opens a scope of its own (`"scope": "self"`).
    case ownRecord
    /// The named reference field holds the scope (`"scope": "conversationId"`).
    case field(String)
    /// One scope for the whole workspace, open to every user (`"scope": {"shared": "directory"}`).
    case shared(ScopeID)
}

/// One collection: its fields, where its records belong, and who may do what.
public struct CollectionSchema: Hashable, Sendable {
    public var name: String
    /// Sorted by name.
    public var fields: [FieldSchema]
    public var scope: ScopeRule
    /// For scope records: the set field that lists the members' user ids.
    public var memberField: String?
    /// For scope records: the set field that lists those members who are admins.
    public var adminField: String?
    public var create: Set<Accessor>
    public var change: Set<Accessor>
    public var delete: Set<Accessor>
    private let indexByName: [String: Int]

    init(
        name: String, fields: [FieldSchema], scope: ScopeRule, memberField: String?, adminField: String?,
        create: Set<Accessor>, change: Set<Accessor>, delete: Set<Accessor>
    ) {
        self.name = name
        self.fields = fields.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        self.scope = scope
        self.memberField = memberField
        self.adminField = adminField
        self.create = create
        self.change = change
        self.delete = delete
        indexByName = Dictionary(
            self.fields.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The field of that name, if the collection has one.
    public func field(_ name: String) -> FieldSchema? {
        indexByName[name].map { fields[$0] }
    }

    /// The scope that a record with these fields belongs to, or why it has none.
    package func scope(of id: LocalID, fields: Fields) throws(Rejection) -> ScopeID {
        switch scope {
        case .ownRecord: return ScopeID(record: id)
        case .shared(let scope): return scope
        case .field(let name):
            guard case .string(let text)? = fields[name], let scope = ScopeID(checking: text) else {
                throw Rejection(.invalid, "\(self.name).\(name): holds the record's scope and must name one")
            }
            return scope
        }
    }
}
