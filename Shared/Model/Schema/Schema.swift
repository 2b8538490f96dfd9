/// What a workspace's collections look like and how they behave; one document serves server and SDK.
///
///     let schema = try Schema(json: Array(text.utf8))
///     schema.collection("messages")?.field("text")?.merge   // .immutable
///
/// A collection is known by its name everywhere; one that had another name before is still known by that to server and
/// wire, see ``CollectionSchema/was``.
public struct Schema: Hashable, Sendable {
    public let name: String
    /// Raised by the app's developers with every change of the document.
    public let version: Int64
    /// Sorted by name.
    public let collections: [CollectionSchema]
    /// Collections that earlier versions had, by the names that the server knows: what old apps write into them is left
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

    /// The collection of that name, if there is one.
    public func collection(_ name: String) -> CollectionSchema? {
        guard let index = indexByName[name], collections[index].name.hasSameBytes(as: name) else { return nil }
        return collections[index]
    }

    /// The schema with the names that server and wire use; it takes the others as well. The same again when nothing was
    /// renamed.
    package var stored: Schema {
        let isRenamed = collections.contains { $0.was != nil || $0.fields.contains { !$0.formerNames.isEmpty } }
        guard isRenamed else { return self }
        return Schema(
            name: name, version: version,
            collections: collections.map { $0.stored { self.collection($0)?.storedName } },
            removedCollections: removedCollections)
    }

    /// Whether records of a collection are given out: those of one that was taken away as well, to apps that know it.
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

/// What is wrong with a schema document, and where.
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
        let place = [collection, field].compactMap { $0 }.joined(separator: ".")
        return place.isEmpty ? "schema: \(reason)" : "schema: \(place): \(reason)"
    }
}
