public import Foundation
import TidemarkModel

/// Records that a model knows by the text of a key. Everything below the typed calls goes by the id that the key makes.
extension CollectionSchema {
    /// The field that a model's `id` stands for, where it is not the record's own id.
    var keyField: String? { identity?.keyField }

    /// The field that a model or a filter means by a name: its `id` is the key, where the schema has one.
    func fieldName(_ name: String) -> String {
        guard let keyField, name == EnvelopeColumn.id.rawValue else { return name }
        return keyField
    }

    /// The record's own id.
    ///
    /// - Throws: `StoreError` with `coding` for text without a key in the schema, a UUID where there is one, or what is no key.
    func recordID(_ id: some SyncModelID) throws(StoreError) -> UniqueID {
        switch (id.place, identity?.isKey == true ? identity : nil) {
        case (.id(let id), nil): return UniqueID(id)
        case (.key(let key), let identity?):
            guard IdentityRule.isKey(key) else {
                throw StoreError(.coding, "\(name): a key is 1 to 128 bytes without control characters")
            }
            return identity.id(ofKey: key)
        case (.id, let identity?):
            throw StoreError(
                .coding, "\(name): the id of a model is text, its key \(identity.keyField ?? ""), and not a UUID")
        case (.key, nil):
            throw StoreError(
                .coding, "\(name): the schema has no key for it (\"id\"), so the id of a model is a UUID, and not text")
        }
    }
}

extension Repository {
    /// The record's own id, for a reference to it: where the schema has a key, the UUID that this one makes.
    ///
    ///     order.productId = try products.recordID("sku-1")
    ///
    /// - Parameter id: as the model has it.
    /// - Throws: `StoreError` with `coding` for what is no id of the collection.
    public func recordID(_ id: Model.ID) throws -> UUID {
        UUID(try store.database.coding(Model.self).collection.recordID(id))
    }
}
