public import Foundation
import TidemarkModel

/// Support for records that a model identifies by a text key. Everything below the typed calls uses the id that is
/// derived from the key.
extension CollectionSchema {
    /// The field that a model's `id` maps to, unless that is the record's own id.
    var keyField: String? { identity?.keyField }

    /// Returns the field that a name in a model or filter refers to: `id` is the key, where the schema has one.
    func fieldName(_ name: String) -> String {
        guard let keyField, name == EnvelopeColumn.id.rawValue else { return name }
        return keyField
    }

    /// Returns the record's own id.
    ///
    /// - Throws: `StoreError` with `coding` for a text where the schema has no key, for a UUID where it has one, and
    ///   for an invalid key.
    func recordID(_ id: some SyncModelID) throws(StoreError) -> UniqueID {
        switch (id.key, identity?.isKey == true ? identity : nil) {
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
    /// Returns the record's own id, for a reference to it. If the schema has a key, this is the UUID derived from the
    /// key.
    ///
    ///     order.productId = try products.recordID("sku-1")
    ///
    /// - Parameter id: the model's id.
    /// - Throws: `StoreError` with `coding` for a value that is not an id of the collection.
    public func recordID(_ id: Model.ID) throws -> UUID {
        UUID(try store.database.coding(Model.self).collection.recordID(id))
    }
}
