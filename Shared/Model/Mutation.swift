/// Names one record: its collection and the id that its creator's device made.
public struct RecordKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let collection: String
    public let id: LocalID

    public init(collection: String, id: LocalID) {
        self.collection = collection
        self.id = id
    }

    public var description: String { "\(collection)/\(id)" }

    public static func < (left: RecordKey, right: RecordKey) -> Bool {
        left.collection == right.collection ? left.id < right.id : left.collection < right.collection
    }
}

/// What a client wants done to one field.
public enum FieldPatch: Hashable, Sendable {
    /// Replace the value.
    case set(FieldValue)
    /// Remove the field.
    case unset
    /// Add to a number; only fields with rule `counter` take it.
    case increment(FieldValue)
    /// Add elements to a set.
    case add([FieldValue])
    /// Remove elements from a set with rule `elements`.
    case remove([FieldValue])
    /// Set keys of a map to these values, and remove those with `null`; only fields with rule `keys` take it.
    case keys(Fields)
    /// Raise to at least this value; only fields with rule `max` take it.
    case max(FieldValue)
}

/// One patch with the field that it is for.
public struct NamedPatch: Hashable, Sendable {
    public let field: String
    public let patch: FieldPatch
    /// The value that the writer saw in the field before; `nil` when it does not say. The SDK fills it in.
    public let seen: ValueMark?

    public init(_ field: String, _ patch: FieldPatch, seen: ValueMark? = nil) {
        self.field = field
        self.patch = patch
        self.seen = seen
    }
}

/// A client's intended write of one record.
public struct Mutation: Hashable, Sendable {
    /// The kind of write with what it carries.
    public enum Action: Hashable, Sendable {
        /// Create the record with these fields.
        case create(Fields)
        /// Change some fields of an existing record.
        case update([NamedPatch])
        /// Turn the record into a tombstone.
        case delete
        /// Bring a deleted record back with these fields.
        case undelete(Fields)
    }

    public var key: RecordKey
    public var action: Action

    public init(key: RecordKey, action: Action) {
        self.key = key
        self.action = action
    }
}

/// An atomic list of mutations: all of them take effect at the server, or none. An app meets it as a write, by its receipt:
/// SwiftUI has a type of this name.
package struct Transaction: Hashable, Sendable {
    /// Chosen once by the device; the same however often it is sent.
    package var id: TransactionID
    package var mutations: [Mutation]
    /// The device's clock when the app wrote; shown, never used for order.
    package var clientTime: Milliseconds
    /// When given, the transaction is refused with `conflict` if a record it touches is newer than this.
    package var ifSeq: SequenceNumber?

    package init(id: TransactionID, mutations: [Mutation], clientTime: Milliseconds, ifSeq: SequenceNumber? = nil) {
        self.id = id
        self.mutations = mutations
        self.clientTime = clientTime
        self.ifSeq = ifSeq
    }
}
