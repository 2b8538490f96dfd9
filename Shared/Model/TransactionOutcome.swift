/// What became of one settled transaction: the same to the order, in the store and on the wire.
///
/// As JSON: `[number, transaction, seq, time]`, with code and message behind when it was refused.
package struct TransactionOutcome: Hashable, Sendable {
    /// The client's number of the transaction.
    package var number: Int64
    package var transaction: TransactionID
    /// The sequence number of its last effect; for a refused one, where the order stood when it was judged.
    package var seq: SequenceNumber
    /// Server time of its batch.
    package var time: Milliseconds
    /// `nil` when it took effect.
    package var rejection: Rejection?

    package init(
        number: Int64, transaction: TransactionID, seq: SequenceNumber, time: Milliseconds, rejection: Rejection?
    ) {
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
        writer.byte(UInt8(ascii: "]"))
    }
}

/// Why a transaction was refused for good. The raw value is the code on the wire.
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
    case internalRejected = "internal_rejected"
}

/// A refusal as data: which code, and a sentence that names collection, field and reason.
public struct Rejection: Error, Hashable, Sendable {
    public let code: RejectionCode
    /// At most ``messageBytesMax`` bytes; a longer one is cut.
    public let message: String

    /// Bytes of a message: outcomes are kept until the client acknowledges them.
    public static let messageBytesMax = 256

    public init(_ code: RejectionCode, _ message: String) {
        self.code = code
        self.message = message.excerpt(bytes: Self.messageBytesMax)
    }
}
