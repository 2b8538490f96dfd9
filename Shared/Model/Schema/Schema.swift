/// The collections of a workspace, with their fields and rules; server and SDK use the same document.
///
///     let schema = try Schema(json: Array(text.utf8))
///     schema.collection("messages")?.field("text")?.merge   // .immutable
///
/// A collection is known by its name everywhere. Server and wire know a renamed collection by its first name, see
/// ``CollectionSchema/was``.
public struct Schema: Hashable, Sendable {
    public let name: String
    /// Raised by the app's developers with every change of the document.
    public let version: Int64
    /// Sorted by name.
    public let collections: [CollectionSchema]
    /// Collections that earlier versions had, by the names that the server knows. Writes of old apps into them are left
    /// out.
    public let removedCollections: Set<String>
    private let indexByName: [String: Int]

    init(name: String, version: Int64, collections: [CollectionSchema], removedCollections: Set<String>) {
        self.name = name
        self.version = version
        self.removedCollections = removedCollections
        self.collections = collections.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        indexByName = Dictionary(
            self.collections.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Reads and checks a schema document.
    ///
    /// - Throws: `SchemaError`, which names collection, field and reason.
    public init(json: [UInt8]) throws(SchemaError) {
        self = try SchemaReader.read(json)
    }

    /// Returns the collection of that name, if there is one.
    public func collection(_ name: String) -> CollectionSchema? {
        guard let index = indexByName[name], collections[index].name.hasSameBytes(as: name) else { return nil }
        return collections[index]
    }

    /// The schema with the names that server and wire use; it accepts the other names as well. If nothing was renamed,
    /// the schema itself.
    package var stored: Schema {
        let isRenamed = collections.contains { $0.was != nil || $0.fields.contains { !$0.formerNames.isEmpty } }
        guard isRenamed else { return self }
        return Schema(
            name: name, version: version,
            collections: collections.map { $0.stored { self.collection($0)?.storedName } },
            removedCollections: removedCollections)
    }

    /// Whether records of a collection are sent to clients. Those of a removed collection are, for apps that know it.
    package func isReadable(_ collection: String) -> Bool {
        self.collection(collection) != nil || removedCollections.contains(collection)
    }

    /// The scopes that every user of the workspace sees.
    package var sharedScopes: [ScopeID] {
        var scopes: [ScopeID] = []
        for collection in collections {
            if case .shared(let scope) = collection.scope, !scopes.contains(scope) { scopes.append(scope) }
        }
        return scopes.sorted()
    }
}

/// An error in a schema document, with its collection and field.
public struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
    public let collection: String?
    public let field: String?
    public let reason: String

    init(collection: String? = nil, field: String? = nil, _ reason: String) {
        self.collection = collection
        self.field = field
        self.reason = reason
    }

    public var description: String {
        let path = [collection, field].compactMap { $0 }.joined(separator: ".")
        return path.isEmpty ? "schema: \(reason)" : "schema: \(path): \(reason)"
    }
}

/// The rule that decides the scope of a collection's records.
public enum ScopeRule: Hashable, Sendable {
    /// Each record opens a scope of its own (`"scope": "self"`).
    case ownRecord
    /// The named reference field holds the scope (`"scope": "conversationId"`).
    case field(String)
    /// One scope for the whole workspace, open to every user (`"scope": {"shared": "directory"}`).
    case shared(ScopeID)
}

/// One collection: its fields, the scope of its records, and its access rules.
///
/// It is one object that all threads share: a struct with several parts would be copied with every write.
public final class CollectionSchema: Sendable {
    public let name: String
    /// The first name of a renamed collection (`"was": "orders"`). Server and wire use it forever, so that a new name
    /// costs nothing there and apps of both versions work side by side.
    public let was: String?
    /// Sorted by name.
    public let fields: [FieldSchema]
    public let scope: ScopeRule
    /// For scope records: the set field that lists the members' user ids.
    public let memberField: String?
    /// For scope records: the set field that lists those members who are admins.
    public let adminField: String?
    /// The rule for ids that are made of values; `nil` if all ids are random.
    public let identity: IdentityRule?
    public let create: Set<Accessor>
    public let change: Set<Accessor>
    public let delete: Set<Accessor>
    /// Fields that earlier versions had, by the names that the server knows. Values that old apps write into them are
    /// left out.
    public let removedFields: Set<String>
    /// The conditions of every write, in the document's order, which is that of judging.
    public let rules: [WriteRule]
    /// The values that rules read for absent fields.
    let readings: Fields
    /// The default values, by the fields' names.
    package let defaults: Fields
    /// Whether a field restricts who may give it a value at the creation.
    package let hasCreationRules: Bool
    /// The references that must name a record in the same scope.
    package let innerReferences: [FieldSchema]
    /// The fields with constraints, in the order of their names.
    let constrained: [RecordJudge.Constrained]
    /// On the server, the fields' other names, older and newer, with the names under which it stores them.
    private let aliases: [String: String]
    private let indexByName: [String: Int]

    init(
        name: String, was: String?, fields: [FieldSchema], scope: ScopeRule, memberField: String?, adminField: String?,
        identity: IdentityRule?, create: Set<Accessor>, change: Set<Accessor>, delete: Set<Accessor>,
        removedFields: Set<String>, rules: [WriteRule] = [], aliases: [String: String] = [:]
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
        self.rules = rules
        readings = rules.isEmpty ? Fields() : RuleReader.readings(of: fields)
        self.aliases = aliases
        hasCreationRules = fields.contains { $0.creators != nil }
        innerReferences = self.fields.filter(\.isWithinScope)
        constrained = self.fields.compactMap { field in
            field.constraint.map { .init(name: field.name, constraint: $0, defaultValue: field.defaultValue) }
        }
        defaults = Fields(
            sorted: self.fields.compactMap { field in field.defaultValue.map { .init(name: field.name, value: $0) } })
        var indexByName = Dictionary(
            self.fields.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        for (alias, stored) in aliases { indexByName[alias] = indexByName[stored] }
        self.indexByName = indexByName
    }

    /// The name under which server and wire know the collection.
    public var storedName: String { was ?? name }

    /// Whether a field has constraints; records of other collections need not be judged.
    package var isConstrained: Bool { !constrained.isEmpty }

    /// Returns the field of that name, if the collection has one.
    public func field(_ name: String) -> FieldSchema? {
        guard let index = indexByName[name], hasName(name, at: index) else { return nil }
        return fields[index]
    }

    /// Compares bytes, since a dictionary finds a key by any spelling of its characters.
    private func hasName(_ name: String, at index: Int) -> Bool {
        fields[index].name.hasSameBytes(as: name) || aliases.contains { $0.key.hasSameBytes(as: name) }
    }

    /// Whether a field has several names.
    package var hasAliases: Bool { !aliases.isEmpty }

    /// Whether two names belong to the same field.
    package func isSameField(_ one: String, _ other: String) -> Bool {
        one == other || (hasAliases && (aliases[one] ?? one) == (aliases[other] ?? other))
    }

    /// Returns a stored record's fields under the names that the server knows. Earlier servers stored some under the
    /// names of newer apps; those values are the newer ones.
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

    /// Returns the collection with the names that server and wire use, and the others as aliases.
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
            change: change, delete: delete, removedFields: removedFields,
            rules: rules.map { $0.renamed(storedName) }, aliases: aliases)
    }

    /// Returns the scope of a record with these fields; throws the reason if it has none.
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
                && left.removedFields == right.removedFields && left.rules == right.rules
                && left.aliases == right.aliases)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(fields)
    }
}

/// The values from which a collection's derived ids are made (`"id": {"name": "direct", "of": ["participantIds"]}`).
///
/// A record whose id is a UUID of version 8 must have the id that its own values make, as long as it lives; every other
/// id is free. The author or the scope's members are among the values, so nobody can take another user's id.
public struct IdentityRule: Hashable, Sendable {
    /// The entry of `of` that means the user who created the record.
    static let author = "author"

    /// The name that precedes the values, so that two kinds of records never make the same id.
    public let name: String
    /// Fields, or `author`, in the order in which their values are hashed.
    public let parts: [String]
    /// True when ids are made of a natural key (`"id": {"name": "product", "key": "sku"}`). Every record then has the
    /// id that its one part makes, whoever writes it, so two records with one key cannot exist.
    public let isKey: Bool

    init(name: String, parts: [String], isKey: Bool = false) {
        self.name = name
        self.parts = parts
        self.isKey = isKey
    }

    /// The field that holds the key, if ids are made of one.
    package var keyField: String? { isKey ? parts.first : nil }

    /// Returns the id of the record with this key.
    package func id(ofKey key: String) -> LocalID { DerivedID.make([name, key]) }

    /// Whether the text can be a key; the bounds are those of every other name on the wire.
    package static func isKey(_ text: String) -> Bool { ScopeID(checking: text) != nil }

    /// Returns the names from which a record's id is made; `nil` while one of the values is missing.
    ///
    /// A set gives its elements in the order of their bytes; a set with a single element gives it twice.
    package func names(_ fields: Fields, author: UserID) -> [String]? {
        var names = [name]
        for part in parts {
            if part == Self.author {
                names.append(author.text)
                continue
            }
            switch fields[part] {
            case .string(let text): names.append(text)
            case .array(let elements):
                var texts: [String] = []
                for element in elements {
                    guard case .string(let text) = element else { return nil }
                    texts.append(text)
                }
                texts.sort { $0.byteOrder($1) < 0 }
                if texts.count == 1 { texts += texts }
                guard !texts.isEmpty else { return nil }
                names += texts
            default: return nil
            }
        }
        return names
    }
}

extension CollectionSchema {
    /// Whether a record with these values may have this id.
    package func admits(_ id: LocalID, fields: Fields, author: UserID) -> Bool {
        guard let identity, id.isDerived || identity.isKey else { return true }
        guard let names = identity.names(fields, author: author) else { return false }
        if identity.isKey { return DerivedID.make(names) == id }
        return (0..<DerivedID.candidatesMax).contains { DerivedID.make(names, candidate: $0) == id }
    }

    /// The refusal of a record whose values do not make its id.
    package var otherIdentity: Rejection {
        let parts = identity?.parts.joined(separator: ", ") ?? ""
        if identity?.isKey == true {
            return Rejection(.forbidden, "\(name): the id must be the one that the key \(parts) makes")
        }
        return Rejection(.forbidden, "\(name): an id of version 8 must be the one that \(parts) make")
    }
}
