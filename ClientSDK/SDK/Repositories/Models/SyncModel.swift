public import TidemarkExtension
public import TidemarkModel

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
/// optional that is `nil` is an unset field. A model may have fewer fields than the collection; the others stay
/// unchanged.
///
/// Properties named `serverID: Int64?`, `serverTime: Date?`, `createdTime: Date?`, `author: String?` and `syncState:
/// RecordState?` show the store's data about the record, unless the schema has fields with these names.
public protocol SyncModel: RecordModel {
    /// The values of properties that are not optional for records that have none: records of another app, a backend, or
    /// an earlier version of this app.
    ///
    ///     var isDone = false
    ///     static let defaults: Fields = ["isDone": false]
    ///
    /// Swift's own decoding does not know the initial value of a property. Some fields need no entry: an absent set is
    /// empty, an absent counter is 0, and a `default` in the schema has precedence. A record that lacks any other
    /// required value is left out, see `Repository.undecodable()`.
    ///
    /// Filters do not know these values: `.equals("isDone", false)` does not find a record without the field,
    /// `.differs("isDone", true)` does. Filters do know a default in the schema.
    static var defaults: Fields { get }

    /// The field names of properties that have another name than their field, as with a coding key of their own.
    /// Filters and orders by key path need them; other properties need no entry.
    ///
    ///     enum CodingKeys: String, CodingKey { case id, columnID = "column" }
    ///     static var fieldNames: [PartialKeyPath<Card>: String] { [\.columnID: "column"] }
    ///
    /// `SyncStore.check(_:)` finds errors in it, and so does opening the store with `models`.
    static var fieldNames: [PartialKeyPath<Self>: String] { get }

    /// Reads the record. By default, `Decodable` does it.
    ///
    /// Decoding asks a coder for each property. A model that is read by the thousand can name its fields itself and is
    /// then read twice as fast, in little more time than SQLite takes to deliver the rows:
    ///
    ///     init(reading record: inout RecordReader) throws {
    ///         id = try record["id"]
    ///         conversationId = try record["conversationId"]
    ///         text = try record["text"]
    ///         sentAt = try record["sentAt"]
    ///         serverTime = try record["serverTime"]
    ///     }
    ///
    /// An initial value of a property, as in `var id = UUID()`, is created for every record that is read, and a random
    /// UUID takes longer than all the rest: set it in an initializer instead.
    ///
    /// The result must equal that of `init(from:)`: only reads use this call, and writes are compared with decoded
    /// values.
    init(reading record: inout RecordReader) throws
}

extension SyncModel {
    /// No defaults: an unset field is absent.
    public static var defaults: Fields { Fields() }

    /// No entries: each property has the name of its field.
    public static var fieldNames: [PartialKeyPath<Self>: String] { [:] }

    public init(reading record: inout RecordReader) throws { try self.init(from: record.decoder) }
}
