public import Foundation

/// What a model may have as its `id`: a `UUID`, which is the record's own, or text, which is a natural key such as an article
/// number. Text needs a key in the schema, `"id": {"name": "product", "key": "sku"}`, whose field holds it.
///
///     struct Product: SyncModel {
///         static let collection = "products"
///         var id: String          // the field sku
///         var name: String
///     }
///
/// A type of the app's own keeps the keys of two collections apart. It needs nothing but its text:
///
///     struct SKU: SyncModelID, RawRepresentable { var rawValue: String }
///
/// What a collection does not go by, `SyncStore.check(_:)` names, also when the store opens with `models`.
public protocol SyncModelID: Hashable, Codable, Sendable {
    /// How the record is found.
    var place: SyncModelPlace { get }
}

/// How the record of an id is found.
public enum SyncModelPlace: Hashable, Sendable {
    /// By the record's own id.
    case id(UUID)
    /// By the text of its key: 1 to 128 bytes of UTF-8 without control characters.
    case key(String)
}

extension UUID: SyncModelID {
    /// By itself.
    public var place: SyncModelPlace { .id(self) }
}

extension String: SyncModelID {
    /// By the key that it is.
    public var place: SyncModelPlace { .key(self) }
}

extension SyncModelID where Self: RawRepresentable, RawValue == String {
    /// By the key that the type wraps.
    public var place: SyncModelPlace { .key(rawValue) }
}
