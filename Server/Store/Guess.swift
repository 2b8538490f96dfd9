package import TidemarkModel

/// A batch that was planned from what a node remembers: true if the store still stands where the memory did.
package struct Guess: Hashable, Sendable {
    package let batch: CommittedBatch
    /// The end of the batch that it was planned on top of.
    package let ground: Head
    /// When another node last said that it listens, as of `ground`.
    package let heard: Milliseconds?
    /// The settled clients as the batch leaves them.
    package let clients: [StoredClient]
}

extension OrderMemory {
    /// Plans a batch from memory alone and remembers it as committed.
    ///
    /// - Returns: `nil`, with nothing changed, when the memory does not hold all of `reads`, or when no batch comes of
    ///   them: that is a matter of repetitions and refusals of whole pushes, which only the stored state may decide.
    /// - Throws: kind `invariant` for a batch that does not tile or takes back a settled number.
    package mutating func guess(
        _ reads: ReadSet, hasListeners: Bool, plan: (ReadResult) -> CommittedBatch?
    ) throws(StoreError) -> Guess? {
        guard var found = answer(reads) else { return nil }
        found.hasListeners = hasListeners
        guard let batch = plan(found) else { return nil }
        try batch.check(after: found.head)
        var settled: [StoredClient] = []
        settled.reserveCapacity(batch.settlements.count)
        for settlement in batch.settlements {
            guard let client = client(settlement.client.id) else { return nil }
            settled.append(try client.settled(by: settlement))
        }
        let guess = Guess(batch: batch, ground: found.head, heard: heard, clients: settled)
        committed(batch, clients: settled)
        return guess
    }
}
