package import TidemarkModel

/// One step of a workspace's order: what is written in one database transaction, and what is delivered after it.
///
/// Batches tile the integers: `low` is the previous batch's `head.seq + 1`, and each batch has at least one number.
package struct CommittedBatch: Hashable, Sendable {
    /// The first number of the batch.
    package var low: SequenceNumber
    /// Its end.
    package var head: Head
    /// Final states of the records that changed, in the order of their sequence numbers.
    package var records: [StoredRecord]
    /// Granted, changed and ended memberships, in order.
    package var memberships: [MembershipChange]
    /// Clients whose transactions were settled.
    package var settlements: [Settlement]
    /// Values that were overwritten unseen, in the order of the writes; mostly none. Only the store takes them: they are
    /// not in the batch's body.
    package var ledger: [LedgerEntry]
    /// The nonce of the batch that it was planned on top of; `nil` where that is known otherwise. It is not stored.
    package var baseNonce: UInt64?
    /// Clients that are registered no more. It takes a batch, since what nodes remember of clients is true of a head.
    package var removals: [ClientID]
    /// Something was erased: what nodes remember of the batches before this one is to be forgotten (ERASURE.md).
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
    /// `nil` when it ends.
    package var role: Role?
    /// The number of the change that caused it.
    package var seq: SequenceNumber
    /// When the membership began; `nil` when only the role changed and the store keeps the beginning that it has.
    package var since: SequenceNumber?

    package init(user: UserID, scope: ScopeID, role: Role?, seq: SequenceNumber, since: SequenceNumber?) {
        self.user = user
        self.scope = scope
        self.role = role
        self.seq = seq
        self.since = since
    }
}

/// How far one client's transactions are settled after a batch.
package struct Settlement: Hashable, Sendable {
    /// The row as it is to be stored.
    package var client: ClientRow
    /// Outcomes to keep, in order of their numbers.
    package var results: [TransactionOutcome]

    package init(client: ClientRow, results: [TransactionOutcome]) {
        self.client = client
        self.results = results
    }
}
