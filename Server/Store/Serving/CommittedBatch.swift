package import TidemarkModel

/// One step of a workspace's order: written in one database transaction, then delivered.
///
/// Batches tile the integers: `low` is the previous batch's `head.seq + 1`, and each batch has at least one number.
package struct CommittedBatch: Hashable, Sendable {
    /// The first number of the batch.
    package var low: SequenceNumber
    /// The number, nonce and time with which the batch ends.
    package var head: Head
    /// Final states of the records that changed, in the order of their sequence numbers.
    package var records: [StoredRecord]
    /// Granted, changed and ended memberships, in order.
    package var memberships: [MembershipChange]
    /// Clients whose transactions were settled.
    package var settlements: [Settlement]
    /// Values that were overwritten unseen, in the order of the writes; mostly none. Only the store reads them: they
    /// are not in the batch's body.
    package var ledger: [LedgerEntry]
    /// The nonce of the batch that this one was planned on; `nil` where it is known otherwise. It is not stored.
    package var baseNonce: UInt64?
    /// Clients that are no longer registered. Removing them takes a batch, since nodes remember clients as of a head.
    package var removals: [ClientID]
    /// True when something was erased: nodes must then forget what they remember of the batches before this one
    /// (ERASURE.md).
    package var forgets = false

    package init(
        low: SequenceNumber, head: Head, records: [StoredRecord] = [], memberships: [MembershipChange] = [],
        settlements: [Settlement] = [], ledger: [LedgerEntry] = [], removals: [ClientID] = []
    ) {
        self.low = low
        self.head = head
        self.records = records
        self.memberships = memberships
        self.settlements = settlements
        self.ledger = ledger
        self.removals = removals
    }
}

/// A membership that begins, changes its role, or ends.
package struct MembershipChange: Hashable, Sendable {
    package var user: UserID
    package var scope: ScopeID
    /// `nil` when the membership ends.
    package var role: Role?
    /// The number of the change that caused it.
    package var seq: SequenceNumber
    /// The number at which the membership began; `nil` when only the role changed and the store keeps the beginning
    /// that it has.
    package var since: SequenceNumber?

    package init(user: UserID, scope: ScopeID, role: Role?, seq: SequenceNumber, since: SequenceNumber?) {
        self.user = user
        self.scope = scope
        self.role = role
        self.seq = seq
        self.since = since
    }
}

/// The settlement of one client's transactions by a batch.
package struct Settlement: Hashable, Sendable {
    /// The row to store.
    package var client: ClientRow
    /// Outcomes to keep, in the order of their numbers.
    package var results: [TransactionOutcome]

    package init(client: ClientRow, results: [TransactionOutcome]) {
        self.client = client
        self.results = results
    }
}

extension CommittedBatch {
    /// Checks everything that can be judged without the stored rows: tiling, numbers within the batch, order.
    ///
    /// The store itself checks the scope and birth of an existing record, and the client's stored row.
    ///
    /// - Throws: `StoreError` of kind `invariant`; nothing may be written then.
    package func check(after previous: Head) throws(StoreError) {
        guard low > 0, low - 1 == previous.seq, head.seq >= low else {
            throw StoreError(.invariant, "a batch must begin right after the head and hold at least one number")
        }
        var last = previous.seq
        var keys = Set<RecordKey>(minimumCapacity: records.count)
        for record in records {
            guard record.seq > last, record.seq <= head.seq else {
                throw StoreError(.invariant, "records must have rising numbers inside their batch")
            }
            guard record.born > 0, record.born <= record.seq else {
                throw StoreError(.invariant, "a record must be born at or before its number")
            }
            guard keys.insert(record.key).inserted else {
                throw StoreError(.invariant, "a batch must name each record once")
            }
            last = record.seq
        }
        for change in memberships where !(low...head.seq).contains(change.seq) || change.begins > change.seq {
            throw StoreError(.invariant, "a membership must change inside its batch")
        }
        for entry in ledger where !(low...head.seq).contains(entry.seq) {
            throw StoreError(.invariant, "a ledger entry must belong to a write of its batch")
        }
        try checkSettlements()
    }

    private func checkSettlements() throws(StoreError) {
        var clients = Set<ClientID>(minimumCapacity: settlements.count)
        for client in removals where !clients.insert(client).inserted {
            throw StoreError(.invariant, "a batch must remove each client once")
        }
        for settlement in settlements {
            guard clients.insert(settlement.client.id).inserted else {
                throw StoreError(.invariant, "a batch must settle each client once")
            }
            var last: Int64 = 0
            for result in settlement.results {
                guard result.number > last else {
                    throw StoreError(.invariant, "results must rise in number")
                }
                last = result.number
            }
            guard last <= settlement.client.settledThrough else {
                throw StoreError(.invariant, "a result must not lie beyond its client's settled number")
            }
        }
    }
}

extension MembershipChange {
    /// The number at which the membership begins if none is stored.
    package var begins: SequenceNumber { since ?? seq }
}

extension Settlement {
    /// The highest stored `settledThrough` that this settlement may follow: each number is settled once.
    package var settledBeforeMax: Int64 {
        guard let first = results.first else { return client.settledThrough }
        return min(client.settledThrough, first.number - 1)
    }
}

extension StoreLimits {
    /// Returns the number of rows of a page asked for with `limit`: at least one, at most `pageRowsMax`.
    package func pageRows(_ limit: Int) -> Int { min(max(limit, 1), max(pageRowsMax, 1)) }

    /// Returns the number that a window of at least `span` numbers after `seq` must reach.
    package static func target(after seq: SequenceNumber, span: Int64) -> SequenceNumber {
        let (sum, overflows) = seq.addingReportingOverflow(max(span, 1))
        return overflows ? .max : sum
    }

    /// Returns whether a batch is stored with its body.
    package func keepsBody(isHeard: Bool) -> Bool { isHeard || logLifetime > 0 }

    /// Returns the number up to which bodies are no longer kept: of batches that end at or before it.
    package func bodiesGoneThrough(head: SequenceNumber) -> SequenceNumber { max(0, head - max(tailSpan, 0)) }
}

/// A batch with the state that it was planned on. A store writes it only if that is still the stored state.
package struct PlannedBatch: Sendable {
    package var batch: CommittedBatch
    /// The end of the order that it was planned on.
    package var base: Head
    /// The last time at which another node renewed its registration as a listener, as of `base`.
    package var heard: Milliseconds?
    /// The settled clients with the batch's effects.
    package var clients: [StoredClient]
    /// Records of the batch that were read and exist; the others must be new.
    package var existing: Set<RecordKey>
    /// The lock under which `base` was read; `nil` when it comes from memory.
    package var turn: (any Turn)?
    /// True when the batch before it was handed to the store and may not be written yet.
    package var isAhead: Bool

    /// - Parameter base: contains all clients that the batch settles and the records that it changes.
    /// - Throws: kind `invariant` when the batch does not continue the base or settles a client that is not in it, or
    ///   when a client's numbers would go back.
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

/// The result of committing a planned batch.
package enum Commitment: Hashable, Sendable {
    /// The batch is on disk.
    ///
    /// - Parameter isHeard: another node follows the workspace.
    case written(isHeard: Bool)
    /// Nothing was written: the stored state is not the one that the batch was planned on. The order ends elsewhere, or
    /// a record that was assumed to be new exists. The caller reads again and plans again.
    case moved
}

/// A workspace's lock, which this node holds from a read to the commit.
package protocol Turn: AnyObject, Sendable {
    /// Releases the lock when nothing is to be written.
    func end() async
}

extension CommittedBatch {
    /// Returns the settled clients with the batch's effects.
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

/// The end of a batch in a workspace's order, with the nonce that proves which history it belongs to.
package struct Head: Hashable, Sendable {
    package var seq: SequenceNumber
    /// Random, chosen when the batch was sequenced; 0 for the empty history.
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

    /// The head before the first batch.
    package static let start = Head(seq: 0, nonce: 0, time: 0, epoch: 1)

    /// Returns true if this position belongs to the same history as the stored batch that holds its number, or precedes
    /// all batches.
    ///
    /// The position may lie inside the batch: a window is cut there when the batch is larger than a read.
    package func isOfHistory(holding batch: Head?) -> Bool { seq == 0 || batch?.nonce == nonce }
}
