public import Foundation

/// A record as an app's struct: its stored properties are the fields of a collection.
///
///     struct Message: SyncModel {
///         static let collection = "messages"
///         var id = UUID()
///         var conversationId: UUID
///         var text: String
///         var sentAt: Date
///         var serverTime: Date?      // filled by the store, never written
///     }
///
/// `Date` is a timestamp in milliseconds, `UUID` a reference, `Set<String>` a set, a nested struct a map or JSON. An
/// optional that is `nil` is a field that is not set. A model may name fewer fields than the collection has; the others
/// are left alone.
///
/// Properties named `serverID: Int64?`, `serverTime: Date?`, `createdTime: Date?`, `author: String?` and
/// `syncState: RecordState?` show what the store knows of the record, unless the schema has fields of these names.
public protocol SyncModel: Codable, Sendable, Identifiable where ID == UUID {
    /// The collection's name in the schema.
    static var collection: String { get }
}
