package import TidemarkModel
package import TidemarkStore

/// The recent batches of one workspace in memory: a reconnect inside it costs no SQL.
package struct Ring: Sendable {
    private var batches: [DeliveryBatch] = []
    private var first = 0
    /// Bytes of the batches that are held.
    package private(set) var bytes = 0
    /// The end of the last batch that this process knows of.
    package private(set) var tail: Head

    package init(tail: Head) { self.tail = tail }

    /// Batches that are held.
    package var count: Int { batches.count - first }

    /// Adds the batch that follows the tail.
    package mutating func append(_ batch: DeliveryBatch) {
        batches.append(batch)
        bytes += batch.byteCount
        tail = batch.head
    }

    /// Forgets the oldest batches beyond so many bytes, but never the last one.
    package mutating func shrink(to bytesMax: Int) {
        while bytes > bytesMax, count > 1 { dropOldest() }
        compact()
    }

    /// True when `forget(olderThan:)` would forget something.
    package func isOlder(than time: Milliseconds) -> Bool { count > 0 && batches[first].head.time < time }

    /// Forgets batches that were committed before `time`.
    package mutating func forget(olderThan time: Milliseconds) {
        while isOlder(than: time) { dropOldest() }
        compact()
    }

    private mutating func dropOldest() {
        bytes -= batches[first].byteCount
        first += 1
    }

    private mutating func compact() {
        if first == batches.count {
            batches = []
            first = 0
        } else if first > 1_024, first * 2 > batches.count {
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
