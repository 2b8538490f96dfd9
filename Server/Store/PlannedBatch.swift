package import TidemarkModel

/// A batch with what it was planned on: a store writes it if that is still what is stored.
package struct PlannedBatch: Sendable {
    package var batch: CommittedBatch
    /// The end of the order that it was planned on.
    package var base: Head
    /// When another node last said that it listens, as of `base`.
    package var heard: Milliseconds?
    /// The settled clients as the batch leaves them.
    package var clients: [StoredClient]
    /// Records of the batch that were read and are there; the others must be new.
    package var existing: Set<RecordKey>
    /// The lock under which `base` was read; `nil` when it comes from memory.
    package var turn: (any Turn)?
    /// The batch before it was handed to the store and may not be written yet.
    package var isAhead: Bool

    /// - Parameter base: with all clients that the batch settles, and the records that it changes.
    /// - Throws: kind `invariant` when the batch does not continue the base, or settles a client that is not in it or whose
    ///   numbers would go back.
    package init(
        _ batch: CommittedBatch, on base: OrderState, heard: Milliseconds? = nil, turn: (any Turn)? = nil,
        isAhead: Bool = false
    ) throws(StoreError) {
        try batch.check(after: base.head)
        self.batch = batch
        self.base = base.head
        self.heard = heard
        clients = try batch.settledClients(base.clients)
        existing = Set(base.records.keys)
        self.turn = turn
        self.isAhead = isAhead
    }
}

/// What became of a planned batch.
package enum Commitment: Hashable, Sendable {
    /// It is on disk.
    ///
    /// - Parameter isHeard: another node follows the workspace.
    case written(isHeard: Bool)
    /// Nothing was written, since what is stored is not what it was planned on: the order ends elsewhere, or a record that
    /// was taken for new is there. To be planned again on what is read.
    case moved
}

/// A workspace's lock, which this node holds from a reading to the commit.
package protocol Turn: AnyObject, Sendable {
    /// Gives the lock back when nothing is to be written.
    func end() async
}

extension CommittedBatch {
    /// The clients that it settles as it leaves them.
    fileprivate func settledClients(
        _ stored: [ClientID: StoredClient]
    ) throws(StoreError) -> [StoredClient] {
        var settled: [StoredClient] = []
        settled.reserveCapacity(settlements.count)
        for settlement in settlements {
            guard let client = stored[settlement.client.id] else {
                throw StoreError(.invariant, "only a registered client can be settled")
            }
            settled.append(try client.settled(by: settlement))
        }
        return settled
    }
}
