package import TidemarkModel

/// The end of a batch in a workspace's order, with the nonce that proves which history it belongs to.
package struct Head: Hashable, Sendable {
    package var seq: SequenceNumber
    /// Random; chosen when the batch was sequenced. 0 for the empty history.
    package var nonce: UInt64
    /// Server time of the batch; never decreases along the order.
    package var time: Milliseconds
    package var epoch: Epoch

    package init(seq: SequenceNumber, nonce: UInt64, time: Milliseconds, epoch: Epoch) {
        self.seq = seq
        self.nonce = nonce
        self.time = time
        self.epoch = epoch
    }

    /// Before the first batch.
    package static let start = Head(seq: 0, nonce: 0, time: 0, epoch: 1)

    /// True if this place is of the same history as the batch that holds its number there, or before all batches.
    ///
    /// The place may lie inside the batch: a window is cut there when the batch is larger than a read.
    package func isOfHistory(holding batch: Head?) -> Bool { seq == 0 || batch?.nonce == nonce }
}
