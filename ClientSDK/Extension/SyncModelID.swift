public import Foundation

/// A type for a model's `id`: a `UUID`, which is the record's own id, or text, which is a natural key such as an
/// article number. Text needs a key in the schema, `"id": {"name": "product", "key": "sku"}`, whose field holds it.
///
///     struct Product: SyncModel {
///         static let collection = "products"
///         var id: String          // the field sku
///         var name: String
///     }
///
/// An app's own type keeps the keys of two collections apart. It needs nothing but its text:
///
///     struct SKU: SyncModelID, RawRepresentable { var rawValue: String }
///
/// `SyncStore.check(_:)` reports an id type that a collection does not use; so does opening the store with `models`.
public protocol SyncModelID: Hashable, Codable, Sendable {
    /// The value that identifies the record.
    var key: SyncModelKey { get }
}

/// The value that identifies a record.
public enum SyncModelKey: Hashable, Sendable {
    /// The record's own id.
    case id(UUID)
    /// The text of its key: 1 to 128 bytes of UTF-8 without control characters.
    case key(String)
}

extension UUID: SyncModelID {
    /// The UUID itself.
    public var key: SyncModelKey { .id(self) }
}

extension String: SyncModelID {
    /// The text as the key.
    public var key: SyncModelKey { .key(self) }
}

extension SyncModelID where Self: RawRepresentable, RawValue == String {
    /// The wrapped text as the key.
    public var key: SyncModelKey { .key(rawValue) }
}
