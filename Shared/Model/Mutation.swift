/// The identity of a record: its collection and the id that its creator's device made.
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

/// A change that a client requests for one field.
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
    /// The mark of the value that the writer saw in the field before; `nil` if it does not say. The SDK fills it in.
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

/// An atomic list of mutations: all of them take effect at the server, or none. Apps see it as a write with a receipt,
/// since SwiftUI has a type of this name.
package struct Transaction: Hashable, Sendable {
    /// Chosen once by the device, and the same each time it is sent.
    package var id: TransactionID
    package var mutations: [Mutation]
    /// The device's clock when the app wrote; shown, never used for order.
    package var clientTime: Milliseconds
    /// The transaction is refused with `conflict` if a record that it touches has a higher number than this.
    package var ifSeq: SequenceNumber?

    package init(id: TransactionID, mutations: [Mutation], clientTime: Milliseconds, ifSeq: SequenceNumber? = nil) {
        self.id = id
        self.mutations = mutations
        self.clientTime = clientTime
        self.ifSeq = ifSeq
    }
}

/// The outcome of one settled transaction, the same in the sequencer, in the store and on the wire.
///
/// The JSON form is `[number, transaction, seq, time]`, followed by code and message if it was refused. Contested fields are
/// the seventh element; code and message are then `null` if the rest took effect.
package struct TransactionOutcome: Hashable, Sendable {
    /// The client's number of the transaction.
    package var number: Int64
    package var transaction: TransactionID
    /// The sequence number of its last effect; for a refused transaction, the end of the order when it was judged.
    package var seq: SequenceNumber
    /// Server time of its batch.
    package var time: Milliseconds
    /// The refusal; `nil` if it took effect.
    package var rejection: Rejection?
    /// The `manual` fields that it left unchanged; all that it wrote if it was refused for them.
    package var contested: [ContestedFields]

    package init(
        number: Int64, transaction: TransactionID, seq: SequenceNumber, time: Milliseconds, rejection: Rejection?,
        contested: [ContestedFields] = []
    ) {
        self.contested = contested
        self.number = number
        self.transaction = transaction
        self.seq = seq
        self.time = time
        self.rejection = rejection
    }

    /// Appends the array.
    package func write(to writer: inout JSONWriter) {
        writer.byte(UInt8(ascii: "["))
        writer.integer(number)
        writer.byte(UInt8(ascii: ","))
        writer.id(transaction)
        writer.byte(UInt8(ascii: ","))
        writer.integer(seq)
        writer.byte(UInt8(ascii: ","))
        writer.integer(time)
        if let rejection {
            writer.byte(UInt8(ascii: ","))
            writer.string(rejection.code.rawValue)
            writer.byte(UInt8(ascii: ","))
            writer.string(rejection.message)
        }
        if !contested.isEmpty {
            if rejection == nil { writer.literal(",null,null") }
            writer.byte(UInt8(ascii: ","))
            writer.array(contested) { $1.write(to: &$0) }
        }
        writer.byte(UInt8(ascii: "]"))
    }
}

/// The reason why a transaction was refused for good. The raw value is the code on the wire.
public enum RejectionCode: String, Sendable, CaseIterable {
    case invalid
    case forbidden
    case notFound = "not_found"
    case gone
    case idConflict = "id_conflict"
    case conflict
    case tooLarge = "too_large"
    case unknownCollection = "unknown_collection"
    case unknownOperation = "unknown_op"
    case quota
    case revoked
    /// A rule of the schema is broken; the message begins with the collection and the rule's name.
    case rule
    case internalRejected = "internal_rejected"
}

/// A refusal as data: a code, and a sentence that names collection, field and reason.
public struct Rejection: Error, Hashable, Sendable {
    public let code: RejectionCode
    /// At most ``messageBytesMax`` bytes; a longer one is cut.
    public let message: String

    /// The largest message in bytes; bounded because outcomes are kept until the client acknowledges them.
    public static let messageBytesMax = 256

    public init(_ code: RejectionCode, _ message: String) {
        self.code = code
        self.message = message.excerpt(bytes: Self.messageBytesMax)
    }
}
