package import TidemarkModel

/// The store of record: what durability means to everything above it.
///
/// Implementations pass one shared contract suite. All times and nonces come in as arguments. Every call names its
/// workspace; nothing crosses workspaces. A call that returns has happened; one that throws a transient error has not,
/// or will be recognised when it is tried again.
package protocol Store: Sendable {
    /// Where the lanes of this store run; `nil`, unless a store says otherwise, for the system's threads.
    var laneExecutor: LaneExecutor? { get }

    /// Reads what a batch is planned on, as of one head. Where several nodes share the store the workspace is locked for
    /// this one, until the turn that comes with the answer is handed to `commit` or ended.
    func read(_ reads: ReadSet, in workspace: WorkspaceID) async throws(StoreError) -> Reading

    /// Writes a batch in one transaction if the stored order ends where it was planned.
    ///
    /// A commit whose outcome is unknown is looked up by its nonce before this returns. Batches of a workspace reach
    /// the store in the order of the calls, as far as they are `isAhead`: one call runs up to where it waits for the store
    /// before the next is made. The turn is over when this returns or throws.
    func commit(_ planned: PlannedBatch, in workspace: WorkspaceID) async throws(StoreError) -> Commitment

    /// Binds a client id to a user; the same call again gives the same answer.
    func register(
        _ client: ClientID, for user: UserID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> Registration

    /// The clients of one user, at most `clientsListedMax`, those first that would be missed least: who never wrote, then
    /// who has acknowledged every outcome, then the others; of each kind who was not seen for longest.
    func clients(of user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> [RegisteredClient]

    /// Notes that clients were there, each once in the list, and what is known of them. Others than registered ones are left out.
    ///
    /// - Returns: those that are registered.
    func saw(_ clients: [SeenClient], in workspace: WorkspaceID) async throws(StoreError) -> Set<ClientID>

    /// Head, grants and client row of one user, and the batch that holds `seq`, from one snapshot.
    func session(
        for user: UserID, client: ClientID?, holding seq: SequenceNumber?, in workspace: WorkspaceID
    ) async throws(StoreError) -> SessionSnapshot

    /// The batch that holds `seq`, or `nil` when the history does not reach it.
    func batch(holding seq: SequenceNumber, in workspace: WorkspaceID) async throws(StoreError) -> Head?

    /// Those of `scopes` in which something changed after `seq`.
    ///
    /// - Throws: also ``StoreError/compacted`` where `seq` is below the horizon.
    func changedScopes(
        among scopes: [ScopeID], after seq: SequenceNumber, in workspace: WorkspaceID
    ) async throws(StoreError) -> [ScopeID]

    /// The current states with a number after `seq` and up to the end of a batch at least `span` further (or the
    /// head), in the scopes, ordered by number, and the batch that holds `seq`. One snapshot.
    ///
    /// - Throws: also ``StoreError/compacted`` where `seq` is below the horizon in that snapshot.
    func window(
        scopes: [ScopeID], after seq: SequenceNumber, span: Int64, in workspace: WorkspaceID
    ) async throws(StoreError) -> Window

    /// Living records of one collection in a scope, newest creation first, created before `before`.
    func page(
        scope: ScopeID, collection: String, before: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> Page

    /// The living records among `ids` of one collection in a scope, in the order of `ids`, and how many of the ids that
    /// answers: from the first, as many as `limit`, a page's rows and `readBytesMax` hold, and always one. One
    /// snapshot.
    func page(
        scope: ScopeID, collection: String, ids: [LocalID], limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> Page

    /// What was overwritten unseen in a record of that scope by writes with a number below `before`, newest first. What is
    /// older than `ledgerLifetime` before the head is not given out.
    func history(
        of key: RecordKey, scope: ScopeID, before: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> LedgerPage

    /// Makes the workspace exist and registers this node as a listener, under the workspace's lock, so that every
    /// batch after the returned head carries its body. Called again, it renews the registration.
    func follow(_ workspace: WorkspaceID, node: UInt64, now: Milliseconds) async throws(StoreError) -> Head

    /// Ends the registration of this node.
    func unfollow(_ workspace: WorkspaceID, node: UInt64) async throws(StoreError)

    /// Batches that end after `seq` in order, at most `limit`: of a number inside a batch that batch is the first, whole. One
    /// snapshot.
    func tail(after seq: SequenceNumber, limit: Int, in workspace: WorkspaceID) async throws(StoreError) -> TailRead

    /// Begins a new epoch of the workspace's order where the condition holds: one batch, which holds nothing else and whose
    /// body is kept for all nodes, and one row of the lineage, in one transaction under the workspace's lock. Whether the
    /// condition holds is judged under the lock, so that the same call again, by whichever node, has no effect.
    ///
    /// The workspace is made where it is not there: a database may be older than it.
    func raiseEpoch(_ raise: EpochRaise, in workspace: WorkspaceID) async throws(StoreError) -> EpochOutcome

    /// Where the epochs of the workspace began, the newest first; nothing for an order that never went back. At most
    /// `lineageListedMax`.
    func lineage(of workspace: WorkspaceID) async throws(StoreError) -> [EpochStart]

    /// Writes something to the disk and leaves nothing behind: succeeds where a commit of any workspace could.
    func probe() async throws(StoreError)
}

extension Store {
    /// The system's threads.
    package var laneExecutor: LaneExecutor? { nil }
}

extension Store {
    /// The same without a place in the order.
    package func session(
        for user: UserID, client: ClientID?, in workspace: WorkspaceID
    ) async throws(StoreError) -> SessionSnapshot {
        try await session(for: user, client: client, holding: nil, in: workspace)
    }
}

/// What a connection starts from.
package struct SessionSnapshot: Hashable, Sendable {
    package var head: Head
    /// `nil` when the client is not registered.
    package var client: ClientRow?
    /// Outcomes, of both kinds, that the client has not acknowledged, in order of their numbers.
    package var results: [TransactionOutcome]
    /// The user's memberships, newest first; shared scopes are not among them.
    package var grants: [Grant]
    /// The end of the batch that holds the number asked for; `nil` when the order does not reach it, and for 0.
    package var lineage: Head?
    /// Deletions up to this number are forgotten: who stands below it has to fill its scopes anew.
    package var horizon: SequenceNumber
    /// The number up to which the order is called safe, for the welcome; `nil` where that is not found out.
    package var durable: SequenceNumber?
    /// The first number that was lost since the client's cursor was given out, for the welcome; `nil` where none was.
    package var lost: SequenceNumber?

    package init(
        head: Head, client: ClientRow? = nil, results: [TransactionOutcome] = [], grants: [Grant] = [],
        lineage: Head? = nil,
        horizon: SequenceNumber = 0
    ) {
        self.head = head
        self.client = client
        self.results = results
        self.grants = grants
        self.lineage = lineage
        self.horizon = horizon
    }
}

/// A stretch of the order as current states.
package struct Window: Hashable, Sendable {
    package var records: [StoredRecord]
    /// The batch end that the window reaches. Only where one batch alone holds more than `readBytesMax`, the number of
    /// the last row with the rest of the batch that holds it.
    package var through: Head
    /// The head of the snapshot that it was read in.
    package var head: Head
    /// The end of the batch that holds the number which it begins after; `nil` when the order does not reach it, and for 0.
    package var base: Head?

    package init(records: [StoredRecord], through: Head, head: Head, base: Head?) {
        self.records = records
        self.through = through
        self.head = head
        self.base = base
    }
}

/// One page of a scope's existing records, or those with certain ids.
package struct Page: Hashable, Sendable {
    package var records: [StoredRecord]
    /// The head of the snapshot that it was read in.
    package var at: Head
    /// No older record exists; where ids were asked for, all of them are answered.
    package var isLast: Bool
    /// Of the ids that were asked for, so many from the first are answered; 0 where none were.
    package var answered: Int

    package init(records: [StoredRecord], at: Head, isLast: Bool, answered: Int = 0) {
        self.records = records
        self.at = at
        self.isLast = isLast
        self.answered = answered
    }
}

/// What is stored after a number, and what the number stands on.
package struct TailRead: Hashable, Sendable {
    /// The end of the batch that holds the number; `nil` when the order does not reach it, and for 0.
    package var base: Head?
    /// The batches that end after the number; the first may hold it.
    package var batches: [TailBatch]

    package init(base: Head?, batches: [TailBatch]) {
        self.base = base
        self.batches = batches
    }

    /// Parts what was read from the batch on that holds `seq`.
    package init(from read: [TailBatch], after seq: SequenceNumber, limit: Int) {
        base = read.first.flatMap { $0.low <= seq ? $0.head : nil }
        batches = Array(read.drop { $0.head.seq <= seq }.prefix(max(limit, 0)))
    }
}

/// A batch as another node left it.
package struct TailBatch: Hashable, Sendable {
    package var low: SequenceNumber
    package var head: Head
    /// `nil` when the body was not kept: sessions must then catch up from state.
    package var batch: CommittedBatch?

    package init(low: SequenceNumber, head: Head, batch: CommittedBatch?) {
        self.low = low
        self.head = head
        self.batch = batch
    }
}
