package import TidemarkModel

/// The store of record: the contract of durability for everything above it.
///
/// Implementations pass one shared contract suite. All times and nonces are arguments. Every call names its workspace;
/// nothing crosses workspaces. When a call returns, its effect is durable. When it throws a transient error, it had no
/// effect, or the effect is recognised when the call is repeated.
package protocol Store: Sendable {
    /// The executor of this store's lanes; `nil`, the default, for the system's threads.
    var laneExecutor: LaneExecutor? { get }

    /// Reads what a batch is planned on, as of one head. If several nodes share the store, the workspace is locked for
    /// this one until the turn in the answer is handed to `commit` or ended.
    func read(_ reads: ReadSet, in workspace: WorkspaceID) async throws(StoreError) -> Reading

    /// Writes a batch in one transaction if the stored order ends where the batch was planned.
    ///
    /// A commit whose outcome is unknown is looked up by its nonce before this returns. Batches of a workspace
    /// that are `isAhead` reach the store in the order of the calls: the next call is made once this one waits for the
    /// store. The turn ends when this returns or throws.
    func commit(_ planned: PlannedBatch, in workspace: WorkspaceID) async throws(StoreError) -> Commitment

    /// Binds a client id to a user; repeating the call returns the same answer.
    func register(
        _ client: ClientID, for user: UserID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> Registration

    /// Returns the clients of one user, at most `clientsListedMax`, the most dispensable first. Clients that never
    /// wrote come first, then those that have acknowledged every outcome, then the others; within each group the
    /// longest unseen first.
    func clients(of user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> [RegisteredClient]

    /// Notes that clients were seen, each once in the list, and what is known of them. Unregistered clients are
    /// ignored.
    ///
    /// - Returns: the registered ones.
    func saw(_ clients: [SeenClient], in workspace: WorkspaceID) async throws(StoreError) -> Set<ClientID>

    /// Returns head, grants and client row of one user, and the batch that holds `seq`, from one snapshot.
    func session(
        for user: UserID, client: ClientID?, holding seq: SequenceNumber?, in workspace: WorkspaceID
    ) async throws(StoreError) -> SessionSnapshot

    /// Returns the end of the batch that holds `seq`, or `nil` when the history does not reach it.
    func batch(holding seq: SequenceNumber, in workspace: WorkspaceID) async throws(StoreError) -> Head?

    /// Returns those of `scopes` in which something changed after `seq`.
    ///
    /// - Throws: also ``StoreError/compacted`` where `seq` is below the horizon.
    func changedScopes(
        among scopes: [ScopeID], after seq: SequenceNumber, in workspace: WorkspaceID
    ) async throws(StoreError) -> [ScopeID]

    /// Returns the current states in the scopes with a number after `seq`, ordered by number, and the batch that holds
    /// `seq`. The window ends with a batch at least `span` further, or with the head. One snapshot.
    ///
    /// - Throws: also ``StoreError/compacted`` where `seq` is below the horizon in that snapshot.
    func window(
        scopes: [ScopeID], after seq: SequenceNumber, span: Int64, in workspace: WorkspaceID
    ) async throws(StoreError) -> Window

    /// Returns living records of one collection in a scope, newest creation first, created before `before`.
    func page(
        scope: ScopeID, collection: String, before: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> Page

    /// Returns the living records among `ids` of one collection in a scope, in the order of `ids`. The page counts the
    /// ids it answers: from the first, as many as `limit`, a page's rows and `readBytesMax` hold, and always one
    /// . One snapshot.
    func page(
        scope: ScopeID, collection: String, ids: [LocalID], limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> Page

    /// Returns the values of a record of that scope that were overwritten unseen by writes with a number below `before`,
    /// newest first. Values older than `ledgerLifetime` before the head are not returned.
    func history(
        of key: RecordKey, scope: ScopeID, before: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> LedgerPage

    /// Creates the workspace if needed and registers this node as a listener, under the workspace's lock. Every batch
    /// after the returned head carries its body. Called again, it renews the registration.
    func follow(_ workspace: WorkspaceID, node: UInt64, now: Milliseconds) async throws(StoreError) -> Head

    /// Ends the registration of this node.
    func unfollow(_ workspace: WorkspaceID, node: UInt64) async throws(StoreError)

    /// Returns batches that end after `seq` in order, at most `limit`. If `seq` lies inside a batch, that batch is the
    /// first, whole. One snapshot.
    func tail(after seq: SequenceNumber, limit: Int, in workspace: WorkspaceID) async throws(StoreError) -> TailRead

    /// Begins a new epoch of the workspace's order if the condition holds. It writes one batch, whose body is kept for
    /// all nodes, and one row of the lineage, in one transaction. The condition is judged under the workspace's lock,
    /// so that repeating the call, from any node, has no effect.
    ///
    /// A missing workspace is created: a database may be older than the workspace.
    func raiseEpoch(_ raise: EpochRaise, in workspace: WorkspaceID) async throws(StoreError) -> EpochOutcome

    /// Returns the beginnings of the workspace's epochs, newest first; empty for an order that never went back. At most
    /// `lineageListedMax`.
    func lineage(of workspace: WorkspaceID) async throws(StoreError) -> [EpochStart]

    /// Writes something to the disk and removes it again: succeeds if a commit of any workspace could.
    func probe() async throws(StoreError)
}

extension Store {
    /// `nil`: lanes run on the system's threads.
    package var laneExecutor: LaneExecutor? { nil }
}

extension Store {
    /// Returns a session's snapshot without a lookup in the order.
    package func session(
        for user: UserID, client: ClientID?, in workspace: WorkspaceID
    ) async throws(StoreError) -> SessionSnapshot {
        try await session(for: user, client: client, holding: nil, in: workspace)
    }
}

/// The stored state from which a connection starts.
package struct SessionSnapshot: Hashable, Sendable {
    package var head: Head
    /// `nil` when the client is not registered.
    package var client: ClientRow?
    /// Outcomes, of both kinds, that the client has not acknowledged, in order of their numbers.
    package var results: [TransactionOutcome]
    /// The user's memberships, newest first; without shared scopes.
    package var grants: [Grant]
    /// The end of the batch that holds the number asked for; `nil` when the order does not reach it, and for 0.
    package var lineage: Head?
    /// The number up to which deletions are forgotten: a client below it must fill its scopes anew.
    package var horizon: SequenceNumber
    /// The number up to which the order is called safe, for the welcome; `nil` where that is not determined.
    package var durable: SequenceNumber?
    /// The first number that was lost since the client's cursor was issued, for the welcome; `nil` where none was.
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
    /// The batch end that the window reaches. If one batch alone holds more than `readBytesMax`, it is the last row's
    /// number, with the other values of that batch's head.
    package var through: Head
    /// The head of the snapshot that the window was read in.
    package var head: Head
    /// The end of the batch that holds the number after which the window begins; `nil` when the order does not reach
    /// it, and for 0.
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
    /// The head of the snapshot that the page was read in.
    package var at: Head
    /// True when no older record exists or, for a request by ids, when all ids are answered.
    package var isLast: Bool
    /// The number of requested ids, from the first, that are answered; 0 for a request without ids.
    package var answered: Int

    package init(records: [StoredRecord], at: Head, isLast: Bool, answered: Int = 0) {
        self.records = records
        self.at = at
        self.isLast = isLast
        self.answered = answered
    }
}

/// The batches stored after a number, and the batch that holds the number.
package struct TailRead: Hashable, Sendable {
    /// The end of the batch that holds the number; `nil` when the order does not reach it, and for 0.
    package var base: Head?
    /// The batches that end after the number; the first may hold it.
    package var batches: [TailBatch]

    package init(base: Head?, batches: [TailBatch]) {
        self.base = base
        self.batches = batches
    }

    /// Splits the batches that were read at `seq`: the read begins with the batch that holds it.
    package init(from read: [TailBatch], after seq: SequenceNumber, limit: Int) {
        base = read.first.flatMap { $0.low <= seq ? $0.head : nil }
        batches = Array(read.drop { $0.head.seq <= seq }.prefix(max(limit, 0)))
    }
}

/// A batch as another node stored it.
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
