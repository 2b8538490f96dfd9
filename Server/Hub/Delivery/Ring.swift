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
    /// The number up to which the order is called safe, as far as this process has found out.
    package private(set) var durable: SequenceNumber = 0
    /// The end of the batch before the first that is held.
    private var base: Head

    package init(tail: Head) {
        self.tail = tail
        base = tail
    }

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
        base = batches[first].head
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

    /// The order is called safe up to here. What was found out of another epoch does not count: its numbers may be others'.
    mutating func call(durable through: SequenceNumber, in epoch: Epoch) {
        if epoch == tail.epoch { durable = through }
    }

    /// Forgets everything: the order has gone back, and ends here.
    mutating func rewind(to tail: Head) {
        reset(tail: tail)
        durable = 0
    }

    /// Forgets everything: batches up to `tail` were missed.
    package mutating func reset(tail: Head) {
        batches = []
        first = 0
        bytes = 0
        self.tail = tail
        base = tail
    }

    /// Whether a place is of the history that is held here; `nil` for one that lies before all of it, or behind it.
    package func isOfHistory(_ place: Head) -> Bool? {
        guard place.seq >= base.seq, place.seq <= tail.seq else { return nil }
        if place.seq == base.seq { return place.isOfHistory(holding: base) }
        return place.isOfHistory(holding: batches[self.place(after: place.seq - 1)].head)
    }

    /// The batch that begins right after `seq`, if it is still held.
    package func batch(after seq: SequenceNumber) -> DeliveryBatch? {
        let place = place(after: seq)
        guard place < batches.count, batches[place].low == seq + 1 else { return nil }
        return batches[place]
    }

    /// The place of the first batch that ends behind `seq`.
    private func place(after seq: SequenceNumber) -> Int {
        var low = first
        var high = batches.count
        while low < high {
            let middle = (low + high) / 2
            if batches[middle].head.seq <= seq { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
