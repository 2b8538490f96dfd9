import TidemarkLock
import TidemarkModel
import TidemarkStore

/// A store in memory with faults that a test switches on.
final class FaultyStore: Store {
    struct Faults {
        /// The fault with which every write fails.
        var fault: StoreError.Fault?
        /// The workspaces whose tails cannot be read.
        var lostTails: Set<WorkspaceID> = []
        /// The number of next commits that find the store unavailable.
        var commitsLost = 0
        /// The number of next batches that find the order moved.
        var commitsMoved = 0
        /// The number of next session reads that find the store unavailable.
        var sessionsLost = 0
        /// The number of reads of pages and pieces of history.
        var reads = 0
        /// The position of the standby's log, in which each number uses ten; `nil` without a standby.
        var confirmed: Int64?
        /// The number of reads of the standbys' positions.
        var looks = 0
        /// The number of reads by readiness probes.
        var probes = 0
        /// Runs right before the next page, or piece of history, is read.
        var beforeRead: (@Sendable () async throws -> Void)?
        /// Runs right before the next session is read.
        var beforeSession: (@Sendable () async throws -> Void)?
        /// The number of transactions above which a batch takes too long.
        var transactionsMax = Int.max
        /// Transactions that the store refuses to store if they take effect.
        var poison: Set<TransactionID> = []
        /// True when not even a refusal of them can be stored.
        var isPoisonDeadly = false
        /// True while commits wait.
        var isHeld = false
        /// The number of batches that came ahead of another and found the order moved.
        var ahead = 0
        /// The number of transactions in each attempted commit.
        var tried: [Int] = []
        fileprivate var held: [CheckedContinuation<Void, Never>] = []
        fileprivate var watchers: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []
    }

    let inner = InMemoryStore()
    let faults = Lock(Faults())

    /// Releases held commits.
    func release() {
        let held = faults.withLock { faults in
            faults.isHeld = false
            defer { faults.held = [] }
            return faults.held
        }
        for commit in held { commit.resume() }
    }

    /// Waits until so many commits were attempted.
    func tried(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = faults.withLock { faults in
                if faults.tried.count >= count { return true }
                faults.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func read(_ reads: ReadSet, in workspace: WorkspaceID) async throws(StoreError) -> Reading {
        try await inner.read(reads, in: workspace)
    }

    func commit(
        _ planned: PlannedBatch, in workspace: WorkspaceID
    ) async throws(StoreError) -> Commitment {
        guard !planned.isAhead else {
            faults.withLock { $0.ahead += 1 }
            return .moved
        }
        let transactions = planned.batch.settlements.reduce(0) { $0 + $1.results.count }
        note(transactions)
        await hold()
        try await probe()
        if faults.withLock({ transactions > $0.transactionsMax }) { throw StoreError(.timeout, "switched on") }
        if faults.withLock({ take(&$0.commitsLost) }) { throw StoreError(.unavailable, "switched off") }
        if faults.withLock({ take(&$0.commitsMoved) }) { return .moved }
        if isPoison(planned.batch) { throw StoreError(.data, "poison") }
        return try await inner.commit(planned, in: workspace)
    }

    private func note(_ transactions: Int) {
        let woken = faults.withLock { faults in
            faults.tried.append(transactions)
            let woken = faults.watchers.filter { $0.count <= faults.tried.count }
            faults.watchers.removeAll { $0.count <= faults.tried.count }
            return woken
        }
        for watcher in woken { watcher.wake.resume() }
    }

    private func hold() async {
        await withCheckedContinuation { continuation in
            let goesOn = faults.withLock { faults in
                if faults.isHeld { faults.held.append(continuation) }
                return !faults.isHeld
            }
            if goesOn { continuation.resume() }
        }
    }

    private func isPoison(_ batch: CommittedBatch) -> Bool {
        faults.withLock { faults in
            batch.settlements.flatMap(\.results).contains { result in
                faults.poison.contains(result.transaction) && (result.rejection == nil || faults.isPoisonDeadly)
            }
        }
    }

    private func take(_ count: inout Int) -> Bool {
        guard count > 0 else { return false }
        count -= 1
        return true
    }

    func session(
        for user: UserID, client: ClientID?, holding seq: SequenceNumber?, in workspace: WorkspaceID
    ) async throws(StoreError) -> SessionSnapshot {
        if faults.withLock({ take(&$0.sessionsLost) }) { throw StoreError(.unavailable, "switched off") }
        let happens = faults.withLock { faults in
            defer { faults.beforeSession = nil }
            return faults.beforeSession
        }
        do { try await happens?() } catch { throw StoreError(.unavailable, "\(error)") }
        return try await inner.session(for: user, client: client, holding: seq, in: workspace)
    }

    /// Counts a read, after running the actions set for it.
    private func noteRead() async throws(StoreError) {
        let happens = faults.withLock { faults in
            faults.reads += 1
            defer { faults.beforeRead = nil }
            return faults.beforeRead
        }
        do { try await happens?() } catch { throw StoreError(.unavailable, "\(error)") }
    }

    func page(
        scope: ScopeID, collection: String, before: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> Page {
        try await noteRead()
        return try await inner.page(scope: scope, collection: collection, before: before, limit: limit, in: workspace)
    }

    func page(
        scope: ScopeID, collection: String, ids: [LocalID], limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> Page {
        try await inner.page(scope: scope, collection: collection, ids: ids, limit: limit, in: workspace)
    }

    func history(
        of key: RecordKey, scope: ScopeID, before: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> LedgerPage {
        try await noteRead()
        return try await inner.history(of: key, scope: scope, before: before, limit: limit, in: workspace)
    }

    func batch(holding seq: SequenceNumber, in workspace: WorkspaceID) async throws(StoreError) -> Head? {
        if workspace == WorkspaceID("readiness") { faults.withLock { $0.probes += 1 } }
        return try await inner.batch(holding: seq, in: workspace)
    }
}

/// The calls without faults.
extension FaultyStore {
    func register(
        _ client: ClientID, for user: UserID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> Registration {
        try await inner.register(client, for: user, in: workspace, now: now)
    }

    func clients(of user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> [RegisteredClient] {
        try await inner.clients(of: user, in: workspace)
    }

    func saw(
        _ clients: [SeenClient], in workspace: WorkspaceID
    ) async throws(StoreError) -> Set<ClientID> {
        try await inner.saw(clients, in: workspace)
    }

    func changedScopes(
        among scopes: [ScopeID], after seq: SequenceNumber, in workspace: WorkspaceID
    ) async throws(StoreError) -> [ScopeID] {
        try await inner.changedScopes(among: scopes, after: seq, in: workspace)
    }

    func window(
        scopes: [ScopeID], after seq: SequenceNumber, span: Int64, in workspace: WorkspaceID
    ) async throws(StoreError) -> Window {
        try await inner.window(scopes: scopes, after: seq, span: span, in: workspace)
    }

    func follow(_ workspace: WorkspaceID, node: UInt64, now: Milliseconds) async throws(StoreError) -> Head {
        try await inner.follow(workspace, node: node, now: now)
    }

    func unfollow(_ workspace: WorkspaceID, node: UInt64) async throws(StoreError) {
        try await inner.unfollow(workspace, node: node)
    }

    func tail(
        after seq: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> TailRead {
        if faults.withLock({ $0.lostTails.contains(workspace) }) { throw StoreError(.unavailable, "switched off") }
        return try await inner.tail(after: seq, limit: limit, in: workspace)
    }

    func raiseEpoch(_ raise: EpochRaise, in workspace: WorkspaceID) async throws(StoreError) -> EpochOutcome {
        if let fault = faults.withLock({ $0.fault }) { throw StoreError(.unavailable, "switched on", fault: fault) }
        return try await inner.raiseEpoch(raise, in: workspace)
    }

    func lineage(of workspace: WorkspaceID) async throws(StoreError) -> [EpochStart] {
        try await inner.lineage(of: workspace)
    }

    func probe() async throws(StoreError) {
        if let fault = faults.withLock({ $0.fault }) { throw StoreError(.unavailable, "switched off", fault: fault) }
    }
}

extension FaultyStore: ReplicaLog {
    func replicas(
        confirming count: Int, heads workspaces: [WorkspaceID]
    ) async throws(StoreError) -> ReplicaReport {
        var heads: [WorkspaceID: Head] = [:]
        for workspace in workspaces {
            heads[workspace] = try await inner.follow(workspace, node: 9, now: 0)
        }
        let confirmed = faults.withLock { faults in
            faults.looks += 1
            return faults.confirmed
        }
        let written = (heads.values.map(\.seq).max() ?? 0) * 10
        return ReplicaReport(log: "log", written: written, confirmed: confirmed, heads: heads)
    }
}
