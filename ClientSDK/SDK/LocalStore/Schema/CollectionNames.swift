import TidemarkModel
import TidemarkWire

/// The names of collections on this device and at the server, which knows a renamed one by its first name.
///
/// Everything in the database has the schema's names; everything sent to or received from the server is translated
/// here.
struct CollectionNames: Sendable {
    private let storedNames: [String: String]
    private let localNames: [String: String]
    /// The former names of fields with their present ones, by collection.
    private let localFields: [String: [String: String]]

    init(_ schema: Schema) {
        let renamed = schema.collections.filter { $0.was != nil }
        storedNames = Dictionary(renamed.map { ($0.name, $0.storedName) }, uniquingKeysWith: { first, _ in first })
        localNames = Dictionary(renamed.map { ($0.storedName, $0.name) }, uniquingKeysWith: { first, _ in first })
        var localFields: [String: [String: String]] = [:]
        for collection in schema.collections {
            for (from, to) in collection.renames { localFields[collection.name, default: [:]][from] = to }
        }
        self.localFields = localFields
    }

    // MARK: To the server

    func stored(_ name: String) -> String { storedNames[name] ?? name }

    func stored(_ key: RecordKey) -> RecordKey {
        storedNames[key.collection].map { RecordKey(collection: $0, id: key.id) } ?? key
    }

    func stored(_ transaction: Transaction) -> Transaction {
        storedNames.isEmpty ? transaction : transaction.renamingCollections(stored)
    }

    // MARK: From the server

    func local(_ name: String) -> String { localNames[name] ?? name }

    func local(_ key: RecordKey) -> RecordKey {
        localNames[key.collection].map { RecordKey(collection: $0, id: key.id) } ?? key
    }

    func local(_ changes: [Change]) -> [Change] {
        guard !localNames.isEmpty else { return changes }
        return changes.map { change in
            var change = change
            change.key = local(change.key)
            return change
        }
    }

    func local(_ groups: [Changes.Group]) -> [Changes.Group] {
        guard !localNames.isEmpty else { return groups }
        return groups.map { Changes.Group(scope: $0.scope, changes: local($0.changes)) }
    }

    func local(_ settled: Settled) -> Settled {
        guard !localNames.isEmpty, settled.outcomes.contains(where: { !$0.contested.isEmpty }) else { return settled }
        var settled = settled
        for index in settled.outcomes.indices {
            for part in settled.outcomes[index].contested.indices {
                settled.outcomes[index].contested[part].key = local(settled.outcomes[index].contested[part].key)
            }
        }
        return settled
    }

    func local(_ page: PageAnswer) -> PageAnswer {
        guard let name = localNames[page.collection] else { return page }
        var page = page
        page.collection = name
        page.changes = local(page.changes)
        return page
    }

    func local(_ entries: [LedgerEntry]) -> [LedgerEntry] {
        guard !localNames.isEmpty || !localFields.isEmpty else { return entries }
        return entries.map { entry in
            var entry = entry
            entry.key = local(entry.key)
            guard let field = localFields[entry.key.collection]?[entry.value.field] else { return entry }
            entry.value = OverwrittenValue(
                field: field, rule: entry.value.rule, old: entry.value.old, new: entry.value.new)
            return entry
        }
    }
}

extension Transaction {
    /// Returns the same writes on records of collections with other names.
    func renamingCollections(_ name: (RecordKey) -> RecordKey) -> Transaction {
        var transaction = self
        transaction.mutations = mutations.map { mutation in
            var mutation = mutation
            mutation.key = name(mutation.key)
            return mutation
        }
        return transaction
    }
}
