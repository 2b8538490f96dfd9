package import TidemarkModel
package import TidemarkStore

/// The recent batches of one workspace in memory: a reconnect inside it costs no SQL.
package struct Ring: Sendable {
    private var batches: [DeliveryBatch] = []
    private var first = 0
    /// The bytes of the batches that are held.
    package private(set) var bytes = 0
    /// The end of the last batch that this process knows of.
    package private(set) var tail: Head
    /// The number up to which the order is called safe, as far as this process knows.
    package private(set) var durable: SequenceNumber = 0
    /// The end of the batch before the first that is held.
    private var base: Head

    package init(tail: Head) {
        self.tail = tail
        base = tail
    }

    /// The number of batches that are held.
    package var count: Int { batches.count - first }

    /// Adds the batch that follows the tail.
    package mutating func append(_ batch: DeliveryBatch) {
        batches.append(batch)
        bytes += batch.byteCount
        tail = batch.head
    }

    /// Forgets the oldest batches while they exceed `bytesMax`, but never the last one.
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

    /// Sets the number up to which the order is called safe. A number of another epoch is ignored: it may belong to
    /// other batches.
    mutating func call(durable through: SequenceNumber, in epoch: Epoch) {
        if epoch == tail.epoch { durable = through }
    }

    /// Forgets everything: the order has gone back and ends at `tail`.
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

    /// Returns whether a position belongs to the history held here; `nil` for one before all of it, or beyond it.
    package func isOfHistory(_ position: Head) -> Bool? {
        guard position.seq >= base.seq, position.seq <= tail.seq else { return nil }
        if position.seq == base.seq { return position.isOfHistory(holding: base) }
        return position.isOfHistory(holding: batches[index(endingAfter: position.seq - 1)].head)
    }

    /// Returns the batch that begins right after `seq`, if it is still held.
    package func batch(after seq: SequenceNumber) -> DeliveryBatch? {
        let index = index(endingAfter: seq)
        guard index < batches.count, batches[index].low == seq + 1 else { return nil }
        return batches[index]
    }

    /// Returns the index of the first batch that ends after `seq`.
    private func index(endingAfter seq: SequenceNumber) -> Int {
        var low = first
        var high = batches.count
        while low < high {
            let middle = (low + high) / 2
            if batches[middle].head.seq <= seq { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Joins a workspace's batches into one gapless stream, whichever node committed them. Own commits come from memory,
/// those of other nodes from the store. Tiling proves that nothing is missing, and nonces that all of it belongs to one
/// history.
///
/// A database can go back: by a failover to a copy that lacks the last commits, or by a restored backup. So each read
/// of the store also checks the batch that the tail ends with. If that is gone, or another batch has its number, the
/// stream ends and begins again elsewhere.
package struct Tail: Sendable {
    /// The output of the stream, in order.
    package enum Output: Hashable, Sendable {
        case batch(CommittedBatch)
        /// The bodies up to this head are not kept: catch up from state.
        case missed(Head)
    }

    /// The result of a read.
    package enum Reading: Hashable, Sendable {
        case outputs([Output])
        /// The last output is not stored, or no longer: ask for the store's head and ``restart(at:)``.
        case rewound
    }

    /// The start of a read.
    package struct Mark: Hashable, Sendable {
        /// The end of the last output.
        package let head: Head
        /// The highest number seen in the store.
        fileprivate let seen: SequenceNumber

        /// The number that the store must reach.
        package var end: SequenceNumber { max(head.seq, seen) }

        /// Returns a batch that is not stored, after a read from this mark returned ``Tail/Reading/rewound``. That is
        /// the head or, if the head is stored, the batch that held the highest number seen. The nonce of the latter is
        /// unknown and set to 0.
        package func lost(for found: TailRead) -> Head {
            guard head.seq == 0 || head.isEnd(of: found.base) else { return head }
            return Head(seq: end, nonce: 0, time: 0, epoch: head.epoch)
        }
    }

    /// The end of the last output.
    package private(set) var head: Head
    private var seen: SequenceNumber = 0
    /// True when nothing is output until ``restart(at:)``.
    package private(set) var isLost = false
    /// Own batches that came before their predecessors.
    private var waiting: [SequenceNumber: CommittedBatch] = [:]

    package init(head: Head) { self.head = head }

    /// The mark to take before the store is read.
    package var mark: Mark { Mark(head: head, seen: seen) }

    /// Notes that state of the store was read as of this number: the order must reach it.
    package mutating func saw(_ seq: SequenceNumber) { seen = max(seen, seq) }

    /// True while a predecessor of an own batch must be read from the store.
    package var hasGap: Bool { !waiting.isEmpty }

    /// Accepts a batch that this node committed.
    package mutating func committed(_ batch: CommittedBatch) -> [Output] {
        guard !isLost, batch.head.seq > head.seq else { return [] }
        waiting[batch.low] = batch
        return flush()
    }

    /// Accepts what the store holds after the head.
    ///
    /// A batch without a body may be one of this node that is not reported yet: bodies are kept for other nodes only.
    /// It is left to `committed`, unless a later own batch waits: own batches are reported in order, so this one will
    /// not be.
    ///
    /// - Parameters:
    ///   - found: the read after the head of `mark`.
    ///   - isWhole: whether the store had no more.
    ///   - isCommitting: whether, after the store was read, own batches were being committed or not yet reported.
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

    /// Begins again at the present end of the stored order.
    package mutating func restart(at head: Head) { self = Tail(head: head) }

    private mutating func flush() -> [Output] {
        var outputs: [Output] = []
        while let batch = waiting.removeValue(forKey: head.seq + 1) {
            // It is of another history: this batch was lost before it was reported, or the tail was. The next read
            // detects it.
            if let base = batch.baseNonce, base != head.nonce { continue }
            head = batch.head
            outputs.append(.batch(batch))
        }
        waiting = waiting.filter { $0.key > head.seq }
        return outputs
    }
}

extension Head {
    /// Returns true if `stored` is the end of the same batch.
    fileprivate func isEnd(of stored: Head?) -> Bool { stored?.seq == seq && stored?.nonce == nonce }
}
