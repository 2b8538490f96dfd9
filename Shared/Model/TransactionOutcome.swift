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
