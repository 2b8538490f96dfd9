import TidemarkModel
package import TidemarkStore

/// Puts a workspace's batches into one gapless stream, whoever committed them: own commits come from memory, those of
/// other nodes from the store. Tiling proves that nothing is missing.
package struct Tail: Sendable {
    /// What comes out, in order.
    package enum Output: Hashable, Sendable {
        case batch(CommittedBatch)
        /// The bodies up to here are not kept: catch up from state.
        case missed(Head)
    }

    /// The end of what came out.
    package private(set) var head: Head
    /// Own batches that came before their predecessors.
    private var waiting: [SequenceNumber: CommittedBatch] = [:]

    package init(head: Head) { self.head = head }

    /// True while a predecessor of an own batch has to be read from the store.
    package var hasGap: Bool { !waiting.isEmpty }

    /// A batch that this node committed.
    package mutating func committed(_ batch: CommittedBatch) -> [Output] {
        guard batch.head.seq > head.seq else { return [] }
        waiting[batch.low] = batch
        return flush()
    }

    /// What the store says came after the head.
    ///
    /// A batch without a body may be one of this node that it has not told yet: bodies are kept for other nodes only. It
    /// is left to `committed`, unless a later own batch waits: own ones are told in their order, so this one will not be.
    ///
    /// - Parameter isCommitting: whether, after the store was read, own batches were on their way or untold.
    package mutating func read(_ batches: [TailBatch], isCommitting: Bool) -> [Output] {
        var outputs: [Output] = []
        for found in batches where found.low == head.seq + 1 {
            if let batch = waiting.removeValue(forKey: found.low) ?? found.batch {
                head = batch.head
                outputs.append(.batch(batch))
            } else if isCommitting, waiting.isEmpty {
                break
            } else {
                head = found.head
                outputs.append(.missed(found.head))
            }
        }
        return outputs + flush()
    }

    private mutating func flush() -> [Output] {
        var outputs: [Output] = []
        while let batch = waiting.removeValue(forKey: head.seq + 1) {
            head = batch.head
            outputs.append(.batch(batch))
        }
        waiting = waiting.filter { $0.key > head.seq }
        return outputs
    }
}
