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
///
/// One object that everyone shares: as a value with several parts it would be copied with every write, by all threads.
public final class CollectionSchema: Sendable {
    public let name: String
    /// The first name that the collection had, when that was another (`"was": "orders"`): server and wire know it by that
    /// name for ever, so that a new name costs nothing there and apps of both versions work side by side.
    public let was: String?
    /// Sorted by name.
    public let fields: [FieldSchema]
    public let scope: ScopeRule
    /// For scope records: the set field that lists the members' user ids.
    public let memberField: String?
    /// For scope records: the set field that lists those members who are admins.
    public let adminField: String?
    /// Of what ids are made that are not made by chance; `nil` where none are.
    public let identity: IdentityRule?
    public let create: Set<Accessor>
    public let change: Set<Accessor>
    public let delete: Set<Accessor>
    /// Fields that earlier versions had, by the names that the server knows: what old apps write into them is left out.
    public let removedFields: Set<String>
    /// What records are read as where they have no value, by the fields' names.
    package let defaults: Fields
    /// At the server: the fields' other names, of before and after, with those that it stores them under.
    private let aliases: [String: String]
    private let indexByName: [String: Int]

    init(
        name: String, was: String?, fields: [FieldSchema], scope: ScopeRule, memberField: String?, adminField: String?,
        identity: IdentityRule?, create: Set<Accessor>, change: Set<Accessor>, delete: Set<Accessor>,
        removedFields: Set<String>, aliases: [String: String] = [:]
    ) {
        self.name = name
        self.was = was
        self.fields = fields.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        self.scope = scope
        self.memberField = memberField
        self.adminField = adminField
        self.identity = identity
        self.create = create
        self.change = change
        self.delete = delete
        self.removedFields = removedFields
        self.aliases = aliases
        defaults = Fields(
            sorted: self.fields.compactMap { field in field.defaultValue.map { .init(name: field.name, value: $0) } })
        var indexByName = Dictionary(
            self.fields.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        for (alias, stored) in aliases { indexByName[alias] = indexByName[stored] }
        self.indexByName = indexByName
    }

    /// The name under which server and wire know the collection.
    public var storedName: String { was ?? name }

    /// The field of that name, if the collection has one.
    public func field(_ name: String) -> FieldSchema? {
        guard let index = indexByName[name], hasName(name, at: index) else { return nil }
        return fields[index]
    }

    /// A key of a dictionary is found by any spelling of its characters; a name is its bytes.
    private func hasName(_ name: String, at index: Int) -> Bool {
        fields[index].name.hasSameBytes(as: name) || aliases.contains { $0.key.hasSameBytes(as: name) }
    }

    /// Whether a field may be called by several names.
    package var hasAliases: Bool { !aliases.isEmpty }

    /// Whether two names are one field's.
    func isSameField(_ one: String, _ other: String) -> Bool {
        one == other || (hasAliases && (aliases[one] ?? one) == (aliases[other] ?? other))
    }

    /// A stored record's fields by the names that the server knows: earlier servers stored some under the names of newer
    /// apps, and those values are the newer ones.
    package func withStoredNames(_ fields: Fields) -> Fields {
        guard hasAliases, fields.entries.contains(where: { aliases[$0.name] != nil }) else { return fields }
        var renamed = fields
        for entry in fields.entries {
            guard let stored = aliases[entry.name] else { continue }
            renamed[entry.name] = nil
            renamed[stored] = entry.value
        }
        return renamed
    }

    /// The collection by the names that server and wire use, with the others as aliases.
    func stored(_ target: (String) -> String?) -> CollectionSchema {
        func storedName(_ name: String) -> String { field(name)?.storedName ?? name }
        var aliases: [String: String] = [:]
        let storedFields = fields.map { field in
            for name in field.formerNames.dropFirst() + [field.name] where name != field.storedName {
                aliases[name] = field.storedName
            }
            var stored = field
            stored.name = field.storedName
            stored.formerNames = []
            stored.target = field.target.flatMap(target)
            return stored
        }
        let storedScope = if case .field(let name) = scope { ScopeRule.field(storedName(name)) } else { scope }
        return CollectionSchema(
            name: self.storedName, was: nil, fields: storedFields, scope: storedScope,
            memberField: memberField.map(storedName), adminField: adminField.map(storedName),
            identity: identity.map {
                IdentityRule(name: $0.name, parts: $0.parts.map(storedName), isKey: $0.isKey)
            }, create: create,
            change: change, delete: delete, removedFields: removedFields, aliases: aliases)
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

extension CollectionSchema: Hashable {
    public static func == (left: CollectionSchema, right: CollectionSchema) -> Bool {
        left === right
            || (left.name == right.name && left.was == right.was && left.fields == right.fields
                && left.scope == right.scope
                && left.memberField == right.memberField && left.adminField == right.adminField
                && left.identity == right.identity && left.create == right.create && left.change == right.change
                && left.delete == right.delete
                && left.removedFields == right.removedFields && left.aliases == right.aliases)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(fields)
    }
}
