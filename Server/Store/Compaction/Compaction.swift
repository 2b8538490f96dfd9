package import TidemarkModel

/// Forgets what is behind a workspace's horizon (COMPACTION.md). Separate from `Store`: the serving path does not call
/// it.
///
/// Each call is one short step, durable when it returns, and may be made by any number of nodes at once. All times are
/// arguments.
package protocol Compacting: Sendable {
    /// Returns the database's own evidence of the time, in one look at all workspaces.
    func clockWitness() async throws(StoreError) -> ClockWitness

    /// Returns workspaces whose last turn began before `time`, the longest waiting first.
    func workspacesToCompact(before time: Milliseconds, limit: Int) async throws(StoreError) -> [CompactionTurn]

    /// Takes a turn; false when another node has taken it since.
    func beginCompaction(
        of workspace: WorkspaceID, before time: Milliseconds, now: Milliseconds
    ) async throws(StoreError) -> Bool

    /// Returns how long the workspace keeps deletions, in milliseconds; `nil` for the server's default.
    func keep(of workspace: WorkspaceID) async throws(StoreError) -> Int64?

    /// Sets how long the workspace keeps deletions, in milliseconds; `nil` for the server's default.
    ///
    /// - Returns: false when the workspace does not exist.
    func setKeep(_ keep: Int64?, of workspace: WorkspaceID) async throws(StoreError) -> Bool

    /// Counts what compaction would do; changes nothing.
    func compactionPlan(
        of workspace: WorkspaceID, olderThan time: Milliseconds
    ) async throws(StoreError) -> CompactionPlan

    /// Takes one step: raises the horizon to the last batch before the order's time, then forgets at most `limit` rows
    /// of each kind.
    ///
    /// The caller repeats it until the step is done. The horizon never falls: a call with an earlier time leaves it
    /// unchanged.
    func compact(_ workspace: WorkspaceID, _ order: CompactionOrder) async throws(StoreError) -> CompactionStep

    /// Returns clients of all workspaces in the order of their keys, after `last`.
    func allClients(after last: ClientPlace?, limit: Int) async throws(StoreError) -> [ClientSighting]

    /// Gives at most `pages` free pages of the file back to the system. Returns 0 when there are none, or when the
    /// database does that by itself.
    func giveBack(pages: Int) async throws(StoreError) -> Int

    /// Looks for names of blobs in one stretch of a scope: in living records, and in kept overwritten values. Reads at
    /// most `limit` records, and at most the bytes of a window.
    func blobNames(
        _ question: BlobScan.Question, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> BlobNamePage
}

/// A workspace that is due for compaction.
package struct CompactionTurn: Hashable, Sendable {
    package var workspace: WorkspaceID
    /// Milliseconds that deletions are kept; `nil` for the server's default.
    package var keep: Int64?

    package init(workspace: WorkspaceID, keep: Int64?) {
        self.workspace = workspace
        self.keep = keep
    }
}

/// The bounds of what one step forgets.
package struct CompactionOrder: Hashable, Sendable {
    /// The horizon rises to the last batch before it.
    package var time: Milliseconds
    /// Ledger entries from before this time are deleted, wherever the horizon is.
    package var ledgerTime: Milliseconds
    /// The maximum number of rows of each kind in one step, at least 1.
    package var limit: Int
    /// The stored names of the collections whose records open scopes. What belongs to a scope is deleted before its
    /// record's tombstone: afterwards the id is free, and a new record with it would open the scope with what is left.
    package var scopeCollections: Set<String>

    package init(
        time: Milliseconds, ledgerTime: Milliseconds = .min, limit: Int = 500, scopeCollections: Set<String>
    ) {
        self.time = time
        self.ledgerTime = ledgerTime
        self.limit = max(1, limit)
        self.scopeCollections = scopeCollections
    }

    /// Derives the order from a schema.
    ///
    /// - Parameter keep: the milliseconds that deletions are kept.
    package init(schema: Schema, keep: Int64, ledgerLifetime: Int64, now: Milliseconds, limit: Int = 500) {
        let openers = schema.collections.filter { $0.scope == .ownRecord }
        self.init(
            time: Self.time(now, before: keep), ledgerTime: Self.time(now, before: ledgerLifetime), limit: limit,
            scopeCollections: Set(openers.map(\.storedName)))
    }

    private static func time(_ now: Milliseconds, before span: Int64) -> Milliseconds {
        let (time, overflows) = now.subtractingReportingOverflow(span)
        return overflows ? .min : time
    }
}

/// The result of one step.
package struct CompactionStep: Hashable, Sendable {
    /// The horizon after the step.
    package var horizon: SequenceNumber
    package var tombstones: Int
    /// Records of scopes that are deleted themselves.
    package var scopeRecords: Int
    package var batches: Int
    package var ledgerEntries: Int
    /// True when nothing behind the horizon is left.
    package var isDone: Bool

    package init(
        horizon: SequenceNumber, tombstones: Int = 0, scopeRecords: Int = 0, batches: Int = 0, ledgerEntries: Int = 0,
        isDone: Bool = true
    ) {
        self.horizon = horizon
        self.tombstones = tombstones
        self.scopeRecords = scopeRecords
        self.batches = batches
        self.ledgerEntries = ledgerEntries
        self.isDone = isDone
    }

    /// The number of deleted rows of all kinds.
    package var rows: Int { tombstones + scopeRecords + batches + ledgerEntries }

    /// Returns the sum of both steps; done when the later one is.
    package static func + (earlier: CompactionStep, later: CompactionStep) -> CompactionStep {
        CompactionStep(
            horizon: later.horizon, tombstones: earlier.tombstones + later.tombstones,
            scopeRecords: earlier.scopeRecords + later.scopeRecords, batches: earlier.batches + later.batches,
            ledgerEntries: earlier.ledgerEntries + later.ledgerEntries, isDone: later.isDone)
    }
}

/// The counts of what compaction would do.
package struct CompactionPlan: Hashable, Sendable {
    package var head: SequenceNumber
    package var horizon: SequenceNumber
    /// The horizon that compaction would set.
    package var target: SequenceNumber
    package var tombstones: Int
    package var batches: Int

    package init(
        head: SequenceNumber, horizon: SequenceNumber, target: SequenceNumber, tombstones: Int, batches: Int
    ) {
        self.head = head
        self.horizon = horizon
        self.target = target
        self.tombstones = tombstones
        self.batches = batches
    }
}

/// A client's position in the order of `Compacting.allClients`.
package struct ClientPlace: Hashable, Sendable {
    package var workspace: WorkspaceID
    package var client: ClientID

    package init(workspace: WorkspaceID, client: ClientID) {
        self.workspace = workspace
        self.client = client
    }
}

/// A client and the time at which it was last seen.
package struct ClientSighting: Hashable, Sendable {
    package var place: ClientPlace
    package var user: UserID
    /// The time at which the client was last seen, never before its registration.
    package var seen: Milliseconds
    /// Milliseconds that deletions are kept; `nil` for the server's default.
    package var keep: Int64?
    /// True when outcomes are kept that the client has not acknowledged: its device may hold what they answer.
    package var isOwed: Bool

    package init(place: ClientPlace, user: UserID, seen: Milliseconds, keep: Int64?, isOwed: Bool) {
        self.place = place
        self.user = user
        self.seen = seen
        self.keep = keep
        self.isOwed = isOwed
    }
}

extension StoreError {
    /// The requested range begins below the horizon: deletions there are forgotten, and a difference would lack them.
    package static let compacted = StoreError(
        .unavailable,
        "the changes since that number are compacted; the client must connect again and fill its scopes anew")
}

/// Finds the last batch before a time by binary search, with a few dozen reads among millions of batches: times never
/// decrease along the order.
package struct HorizonSearch: Sendable {
    private let time: Milliseconds
    private var low: SequenceNumber
    private var high: SequenceNumber
    /// The newest batch found that is older than the time; `nil` when there is none behind the horizon.
    package private(set) var found: Head?

    /// - Parameters:
    /// - horizon: the search begins after this number.
    ///   - head: the end of the order.
    package init(olderThan time: Milliseconds, after horizon: SequenceNumber, head: Head) {
        self.time = time
        low = horizon
        high = head.seq
        if head.seq > horizon, head.time < time { (found, low) = (head, head.seq) }
    }

    /// The number whose batch to look up next; `nil` once the search is complete.
    package var probe: SequenceNumber? { low < high ? low + 1 + (high - low - 1) / 2 : nil }

    /// Accepts the batch that holds the probe; `nil` when the order no longer reaches it.
    package mutating func take(_ batch: Head?) {
        guard let probe else { return }
        if let batch, batch.time < time, batch.seq >= probe, batch.seq <= high {
            (found, low) = (batch, batch.seq)
        } else {
            high = probe - 1
        }
    }
}
