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

/// Puts a workspace's batches into one gapless stream, whoever committed them: own commits come from memory, those of
/// other nodes from the store. Tiling proves that nothing is missing, and nonces that it is all of one history.
///
/// A database can go back, by a failover to a copy that lacks the last commits or by a restored backup. Each read of the
/// store also looks at what the tail stands on; where that is not there any more, or another batch is, the stream ends and
/// begins again elsewhere.
package struct Tail: Sendable {
    /// What comes out, in order.
    package enum Output: Hashable, Sendable {
        case batch(CommittedBatch)
        /// The bodies up to here are not kept: catch up from state.
        case missed(Head)
    }

    /// What a read came to.
    package enum Reading: Hashable, Sendable {
        case outputs([Output])
        /// What came out last is not stored, or not any more: ask for the store's head and ``restart(at:)``.
        case rewound
    }

    /// Where a read begins.
    package struct Mark: Hashable, Sendable {
        /// The end of what came out.
        package let head: Head
        /// The highest number that the store was seen at.
        fileprivate let seen: SequenceNumber

        /// What the store must reach.
        package var end: SequenceNumber { max(head.seq, seen) }

        /// A batch that is not stored, after a read from here has said ``Tail/Reading/rewound``: the head, or, where that is
        /// there, whatever held the highest number that was seen. Its nonce, which nobody knows, is then 0.
        package func lost(for found: TailRead) -> Head {
            guard head.seq == 0 || head.isEnd(of: found.base) else { return head }
            return Head(seq: end, nonce: 0, time: 0, epoch: head.epoch)
        }
    }

    /// The end of what came out.
    package private(set) var head: Head
    private var seen: SequenceNumber = 0
    /// Nothing comes out until ``restart(at:)``.
    package private(set) var isLost = false
    /// Own batches that came before their predecessors.
    private var waiting: [SequenceNumber: CommittedBatch] = [:]

    package init(head: Head) { self.head = head }

    /// To be taken before the store is read.
    package var mark: Mark { Mark(head: head, seen: seen) }

    /// Somebody read state of the store as of this number: the order must reach it.
    package mutating func saw(_ seq: SequenceNumber) { seen = max(seen, seq) }

    /// True while a predecessor of an own batch has to be read from the store.
    package var hasGap: Bool { !waiting.isEmpty }

    /// A batch that this node committed.
    package mutating func committed(_ batch: CommittedBatch) -> [Output] {
        guard !isLost, batch.head.seq > head.seq else { return [] }
        waiting[batch.low] = batch
        return flush()
    }

    /// What the store says came after the head.
    ///
    /// A batch without a body may be one of this node that it has not told yet: bodies are kept for other nodes only. It
    /// is left to `committed`, unless a later own batch waits: own ones are told in their order, so this one will not be.
    ///
    /// - Parameters:
    ///   - found: as read after the head of `mark`.
    ///   - isWhole: there was no more.
    ///   - isCommitting: whether, after the store was read, own batches were on their way or untold.
    package mutating func read(_ found: TailRead, from mark: Mark, isWhole: Bool, isCommitting: Bool) -> Reading {
        let end = (found.batches.last?.head ?? found.base)?.seq ?? 0
        let isGone = mark.head.seq > 0 && !mark.head.isEnd(of: found.base)
        if isLost || isGone || (isWhole && end < mark.end) {
            isLost = true
            waiting = [:]
            return .rewound
        }
        var outputs: [Output] = []
        for found in found.batches where found.low == head.seq + 1 {
            let own = waiting.removeValue(forKey: found.low).flatMap { $0.head.nonce == found.head.nonce ? $0 : nil }
            if let batch = own ?? found.batch {
                head = batch.head
                outputs.append(.batch(batch))
            } else if isCommitting, waiting.isEmpty {
                break
            } else {
                head = found.head
                outputs.append(.missed(found.head))
            }
        }
        return .outputs(outputs + flush())
    }

    /// Begins again at the end of what is stored now.
    package mutating func restart(at head: Head) { self = Tail(head: head) }

    private mutating func flush() -> [Output] {
        var outputs: [Output] = []
        while let batch = waiting.removeValue(forKey: head.seq + 1) {
            // Of another history: either this one was lost before it was told, or the tail is, and the next read says so.
            if let base = batch.baseNonce, base != head.nonce { continue }
            head = batch.head
            outputs.append(.batch(batch))
        }
        waiting = waiting.filter { $0.key > head.seq }
        return outputs
    }
}

extension Head {
    /// True if `stored` is the end of the same batch.
    fileprivate func isEnd(of stored: Head?) -> Bool { stored?.seq == seq && stored?.nonce == nonce }
}
