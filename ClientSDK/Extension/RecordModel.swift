/// A record of a collection as a struct. It is the base of `SyncModel`, which an app's store reads and writes; an
/// extension needs nothing more to write records and to show published ones.
///
///     struct Message: RecordModel {                    // in a file of both targets
///         static let collection = "messages"
///         var id = UUID()
///         var conversationId: UUID
///         var text: String
///     }
///     extension Message: SyncModel {}                 // in the app alone
///
/// Stored properties are the fields of the collection, by their names or their coding keys. `Date` is a timestamp in
/// milliseconds, `UUID` a reference, `Set<String>` a set, a nested struct a map or JSON. A property that is `nil` is an
/// unset field.
///
/// An extension has no schema and cannot derive ids from keys. It writes models whose `id` is a `UUID`, and reads
/// published ones of any kind.
public protocol RecordModel: Codable, Sendable, Identifiable where ID: SyncModelID {
    /// The collection's name in the schema.
    static var collection: String { get }
}
