package import TidemarkModel
package import TidemarkStore

/// The recent batches of one workspace in memory: a reconnect inside it costs no SQL.
package struct Ring: Sendable {
    private var batches: [DeliveryBatch] = []
    private var first = 0
    private var bytes = 0
    private let bytesMax: Int
    /// The end of the last batch that this process knows of.
    package private(set) var tail: Head

    package init(tail: Head, bytesMax: Int) {
        self.tail = tail
        self.bytesMax = bytesMax
    }

    /// Adds the batch that follows the tail.
    package mutating func append(_ batch: DeliveryBatch) {
        batches.append(batch)
        bytes += batch.byteCount
        tail = batch.head
        while bytes > bytesMax, first < batches.count - 1 {
            bytes -= batches[first].byteCount
            first += 1
        }
        if first > 1_024, first * 2 > batches.count {
            batches.removeFirst(first)
            first = 0
        }
    }

    /// Forgets everything: batches up to `tail` were missed.
    package mutating func reset(tail: Head) {
        batches = []
        first = 0
        bytes = 0
        self.tail = tail
    }

    /// The batch that begins right after `seq`, if it is still held.
    package func batch(after seq: SequenceNumber) -> DeliveryBatch? {
        var low = first
        var high = batches.count
        while low < high {
            let middle = (low + high) / 2
            if batches[middle].low <= seq { low = middle + 1 } else { high = middle }
        }
        guard low < batches.count, batches[low].low == seq + 1 else { return nil }
        return batches[low]
    }
}
