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
/// optional that is `nil` is a field that is not set. A model may name fewer fields than the collection has; the others
/// are left alone.
///
/// Properties named `serverID: Int64?`, `serverTime: Date?`, `createdTime: Date?`, `author: String?` and
/// `syncState: RecordState?` show what the store knows of the record, unless the schema has fields of these names.
public protocol SyncModel: SpoolModel {
    /// What properties that are not optional read where a record has no value: one that another app wrote, a backend, or
    /// an earlier version of this app.
    ///
    ///     var isDone = false
    ///     static let defaults: Fields = ["isDone": false]
    ///
    /// Swift's own decoding does not know the initial value beside a property. A set or a counter needs no entry: one
    /// that has no value is empty, or 0; nor does a field that has a `default` in the schema, whose word counts. A record
    /// that lacks any other value which the model requires is set aside, see `Repository.undecodable()`. Filters do not
    /// know these: `.equals("isDone", false)` does not find a record without the field, `.differs("isDone", true)` does.
    /// A default in the schema is known to filters as well.
    static var defaults: Fields { get }

    /// The fields of properties that have another name than theirs, as one with a coding key of its own has. Filters and
    /// orders by key path need it; a property that is called like its field needs no entry.
    ///
    ///     enum CodingKeys: String, CodingKey { case id, columnID = "column" }
    ///     static var fieldNames: [PartialKeyPath<Card>: String] { [\.columnID: "column"] }
    ///
    /// `SyncStore.check(_:)` finds what is wrong with it, also when the store opens with `models`.
    static var fieldNames: [PartialKeyPath<Self>: String] { get }

    /// Reads the record; `Decodable` does it unless the model does.
    ///
    /// Decoding asks a coder for each property. A model that is read a thousand at a time can name its fields itself and is
    /// then read twice as fast, in not much more than SQLite takes to give the rows:
    ///
    ///     init(reading record: inout RecordReader) throws {
    ///         id = try record["id"]
    ///         conversationId = try record["conversationId"]
    ///         text = try record["text"]
    ///         sentAt = try record["sentAt"]
    ///         serverTime = try record["serverTime"]
    ///     }
    ///
    /// An initial value beside the property, as in `var id = UUID()`, is made for every record that is read, too, and a
    /// random UUID takes longer than all the rest: give it in an initializer instead.
    ///
    /// It must give the same as `init(from:)`: only reads use it, and what is written is compared with what decodes.
    init(reading record: inout RecordReader) throws
}

extension SyncModel {
    /// None: a field that a record has not is absent.
    public static var defaults: Fields { Fields() }

    /// None: each property is called like its field.
    public static var fieldNames: [PartialKeyPath<Self>: String] { [:] }

    public init(reading record: inout RecordReader) throws { try self.init(from: record.decoder) }
}
