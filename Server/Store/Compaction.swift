package import TidemarkModel

/// Forgets what is behind a workspace's horizon (COMPACTION.md). A store of its own kind of work: what serves does not call it.
///
/// Each call is one short step and may be made by any number of nodes at once; what it says has happened. All times come in
/// as arguments.
package protocol Compacting: Sendable {
    /// The database's own evidence of the time. One look at all workspaces.
    func clockWitness() async throws(StoreError) -> ClockWitness

    /// Workspaces whose last turn began before `time`, the longest waiting first.
    func workspacesToCompact(before time: Milliseconds, limit: Int) async throws(StoreError) -> [CompactionTurn]

    /// Takes a turn; false when another node has taken it since.
    func beginCompaction(
        of workspace: WorkspaceID, before time: Milliseconds, now: Milliseconds
    ) async throws(StoreError) -> Bool

    /// How long the workspace keeps what is deleted, in milliseconds; `nil` for what the server keeps by default.
    func keep(of workspace: WorkspaceID) async throws(StoreError) -> Int64?

    /// Sets that.
    ///
    /// - Returns: false when there is no such workspace.
    func setKeep(_ keep: Int64?, of workspace: WorkspaceID) async throws(StoreError) -> Bool

    /// What compaction would do, counted; changes nothing.
    func compactionPlan(
        of workspace: WorkspaceID, olderThan time: Milliseconds
    ) async throws(StoreError) -> CompactionPlan

    /// One step: raises the horizon to the last batch before the order's time, then forgets at most `limit` rows of each kind.
    ///
    /// To be called until it says that it is done. The horizon never falls: after a call with an earlier time it is where it was.
    func compact(_ workspace: WorkspaceID, _ order: CompactionOrder) async throws(StoreError) -> CompactionStep

    /// Clients of all workspaces in the order of their keys, after one.
    func allClients(after place: ClientPlace?, limit: Int) async throws(StoreError) -> [ClientSighting]

    /// Gives free pages of the file back to the system, at most so many; 0 when there are none, or when the database does that
    /// by itself.
    func giveBack(pages: Int) async throws(StoreError) -> Int

    /// Looks for names of blobs in one stretch of a scope: in living records, and in what is kept of overwritten values. At
    /// most `limit` records, and as many bytes as a window may have.
    func blobNames(
        _ question: BlobScan.Question, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> BlobNamePage
}

/// A workspace whose turn it is.
package struct CompactionTurn: Hashable, Sendable {
    package var workspace: WorkspaceID
    /// Milliseconds; `nil` for the server's default.
    package var keep: Int64?

    package init(workspace: WorkspaceID, keep: Int64?) {
        self.workspace = workspace
        self.keep = keep
    }
}

/// What a step is to forget.
package struct CompactionOrder: Hashable, Sendable {
    /// The horizon rises to the last batch before it.
    package var time: Milliseconds
    /// Ledger entries from before it go, wherever the horizon is.
    package var ledgerTime: Milliseconds
    /// Rows of each kind in one step, at least 1.
    package var limit: Int
    /// Those whose records open scopes, by the names that they are stored under: what belongs to a scope goes before its
    /// record's tombstone, whose id would else give away what is left.
    package var scopeCollections: Set<String>

    package init(
        time: Milliseconds, ledgerTime: Milliseconds = .min, limit: Int = 500, scopeCollections: Set<String>
    ) {
        self.time = time
        self.ledgerTime = ledgerTime
        self.limit = max(1, limit)
        self.scopeCollections = scopeCollections
    }

    /// For a schema, as of now.
    ///
    /// - Parameter keep: milliseconds that deletions are kept.
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

/// What one step did.
package struct CompactionStep: Hashable, Sendable {
    /// Where the horizon is now.
    package var horizon: SequenceNumber
    package var tombstones: Int
    /// Records of scopes that are dead themselves.
    package var scopeRecords: Int
    package var batches: Int
    package var ledgerEntries: Int
    /// Nothing behind the horizon is left.
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

    /// What it took away, of all kinds.
    package var rows: Int { tombstones + scopeRecords + batches + ledgerEntries }

    /// Both together; done when the later is.
    package static func + (earlier: CompactionStep, later: CompactionStep) -> CompactionStep {
        CompactionStep(
            horizon: later.horizon, tombstones: earlier.tombstones + later.tombstones,
            scopeRecords: earlier.scopeRecords + later.scopeRecords, batches: earlier.batches + later.batches,
            ledgerEntries: earlier.ledgerEntries + later.ledgerEntries, isDone: later.isDone)
    }
}

/// What compaction would do.
package struct CompactionPlan: Hashable, Sendable {
    package var head: SequenceNumber
    package var horizon: SequenceNumber
    /// Where it would be.
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

/// Where a client stands in the order of `Compacting.allClients`.
package struct ClientPlace: Hashable, Sendable {
    package var workspace: WorkspaceID
    package var client: ClientID

    package init(workspace: WorkspaceID, client: ClientID) {
        self.workspace = workspace
        self.client = client
    }
}

/// A client and when it was last here.
package struct ClientSighting: Hashable, Sendable {
    package var place: ClientPlace
    package var user: UserID
    /// Never before it was registered.
    package var seen: Milliseconds
    /// Milliseconds; `nil` for the server's default.
    package var keep: Int64?
    /// Outcomes are kept that it has not acknowledged: its device may hold what they answer.
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
    /// What was asked for goes on from below the horizon: deletions there are forgotten, and a difference would lack them.
    package static let compacted = StoreError(
        .unavailable,
        "what changed since then is compacted; a client that connects again is told to fill its scopes anew")
}

/// Finds the last batch before a time by asking for batches, a few dozen of millions: times never decrease along the order.
package struct HorizonSearch: Sendable {
    private let time: Milliseconds
    private var low: SequenceNumber
    private var high: SequenceNumber
    /// The last batch found that is older; `nil` when none behind the horizon is.
    package private(set) var found: Head?

    /// - Parameters:
    ///   - horizon: nothing up to it is looked for.
    ///   - head: the end of the order.
    package init(olderThan time: Milliseconds, after horizon: SequenceNumber, head: Head) {
        self.time = time
        low = horizon
        high = head.seq
        if head.seq > horizon, head.time < time { (found, low) = (head, head.seq) }
    }

    /// The number whose batch to look up next; `nil` once it is found.
    package var probe: SequenceNumber? { low < high ? low + 1 + (high - low - 1) / 2 : nil }

    /// Takes the batch that holds the probe; `nil` when the order does not reach it any more.
    package mutating func take(_ batch: Head?) {
        guard let probe else { return }
        if let batch, batch.time < time, batch.seq >= probe, batch.seq <= high {
            (found, low) = (batch, batch.seq)
        } else {
            high = probe - 1
        }
    }
}
