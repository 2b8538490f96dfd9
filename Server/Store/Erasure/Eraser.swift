package import TidemarkModel

/// Erases a scope of a database that nodes may be serving, step by step. ERASURE.md explains the order of the steps.
///
/// If it is interrupted, the next call does the rest; a further call finds nothing and is harmless.
package struct Eraser: Sendable {
    /// The sizes of the steps and the number of attempts.
    package struct Limits: Hashable, Sendable {
        /// The maximum number of records, and of batches, in one step.
        package var stepRows = 500
        /// The maximum number of memberships that end in one batch.
        package var endsPerBatch = 500
        /// The maximum number of memberships that one step examines.
        package var membersPerStep = 5_000
        /// The maximum number of attempts for a step that fails because the store is busy.
        package var triesMax = 20

        package init() {}
    }

    /// The inputs and callbacks that the caller provides.
    package struct Surroundings: Sendable {
        /// Milliseconds since 1970.
        package var now: @Sendable () -> Milliseconds
        /// A random number, never 0.
        package var nonce: @Sendable () -> UInt64
        /// Called between two steps, to leave the store to others, and for longer before a step is retried.
        package var pause: @Sendable (_ isAfterFailure: Bool) async throws -> Void
        /// Called after each commit, so that other nodes can be notified of the batch.
        package var committed: @Sendable (CommittedBatch) async -> Void

        package init(
            now: @escaping @Sendable () -> Milliseconds, nonce: @escaping @Sendable () -> UInt64,
            pause: @escaping @Sendable (Bool) async throws -> Void = { _ in },
            committed: @escaping @Sendable (CommittedBatch) async -> Void = { _ in }
        ) {
            self.now = now
            self.nonce = nonce
            self.pause = pause
            self.committed = committed
        }
    }

    /// The totals so far.
    package struct Progress: Hashable, Sendable {
        package var ends = 0
        package var step = ErasureStep(isDone: false)
        package var blobs = BlobUsage()
        package var phase = Phase.members
        /// The removed clients of a user, and the records that got another author.
        package var clients = 0
        package var renamed = 0

        package init() {}
    }

    /// The part of the work that is under way.
    package enum Phase: String, Hashable, Sendable {
        case members, records, blobs, readers, files, done
    }

    let store: any Store
    let erasing: any Erasing
    let blobs: (any BlobErasing)?
    let limits: Limits
    let surroundings: Surroundings

    /// - Parameters:
    /// - erasing: the same store.
    ///   - blobs: `nil` without a blob store.
    package init(
        store: any Store, erasing: any Erasing, blobs: (any BlobErasing)?, limits: Limits = Limits(),
        surroundings: Surroundings
    ) {
        self.store = store
        self.erasing = erasing
        self.blobs = blobs
        self.limits = limits
        self.surroundings = surroundings
    }

    /// Erases a scope.
    ///
    /// - Parameters:
    ///   - openers: the stored names of the collections whose records open scopes.
    ///   - tell: called after each step with everything so far.
    /// - Returns: everything that was done; `nil` when nothing was ever written in the workspace.
    /// - Throws: the `StoreError` of a step that failed too often, or an error of `pause`. Completed steps stay.
    @discardableResult
    package func erase(
        _ scope: ScopeID, in workspace: WorkspaceID, openers: Set<String>, tell: (Progress) -> Void = { _ in }
    ) async throws -> Progress? {
        let begun = try await patiently {
            () async throws(StoreError) in
            try await erasing.beginErasure(of: scope, in: workspace, now: surroundings.now())
        }
        guard begun != nil else { return nil }
        var progress = Progress()
        try await empty(scope, in: workspace, openers: openers, &progress, tell)
        // Only what nodes remember of the order is left.
        try await commit(ReadSet(), in: workspace) { state in batch(after: state.head) }
        try await scrub(&progress, tell)
        try await patiently { () async throws(StoreError) in
            try await erasing.endErasure(of: scope, in: workspace, now: surroundings.now())
        }
        progress.phase = .done
        tell(progress)
        return progress
    }

    /// Removes everything of a marked scope.
    func empty(
        _ scope: ScopeID, in workspace: WorkspaceID, openers: Set<String>, _ progress: inout Progress,
        _ tell: (Progress) -> Void
    ) async throws {
        let graves = Self.graves(of: scope, openers: openers)
        try await endMemberships(of: scope, graves, in: workspace, &progress, tell)
        progress.phase = .records
        while !progress.step.isDone {
            progress.step =
                progress.step
                + (try await patiently { () async throws(StoreError) in
                    try await erasing.erase(scope, in: workspace, keeping: graves, limit: limits.stepRows)
                })
            tell(progress)
            try await surroundings.pause(false)
        }
        progress.phase = .blobs
        while let blobs {
            let some = try await patiently { () async throws(StoreError) in
                try await blobs.eraseBlobs(of: scope, in: workspace)
            }
            guard some.blobs > 0 else { break }
            progress.blobs.blobs += some.blobs
            progress.blobs.bytes += some.bytes
            tell(progress)
            try await surroundings.pause(false)
        }
    }

    /// Removes the deleted bytes from the files.
    ///
    /// The files are rewritten once. While a reader uses them, each attempt would add a whole copy to the log. So this
    /// waits for the readers' end first; afterwards only the log is left to empty.
    func scrub(_ progress: inout Progress, _ tell: (Progress) -> Void) async throws {
        try await emptyLog(&progress, tell)
        progress.phase = .files
        tell(progress)
        try await patiently { () async throws(StoreError) in try await erasing.scrub() }
        try await emptyLog(&progress, tell)
        if let blobs { try await patiently { () async throws(StoreError) in try await blobs.scrubBlobs() } }
    }

    private func emptyLog(_ progress: inout Progress, _ tell: (Progress) -> Void) async throws {
        do throws(StoreError) {
            return try await erasing.emptyLog()
        } catch {
            guard error.isPassing else { throw error }
            progress.phase = .readers
            tell(progress)
        }
        try await surroundings.pause(true)
        try await patiently { () async throws(StoreError) in try await erasing.emptyLog() }
    }

    /// Erases a workspace.
    ///
    /// - Parameter tell: called after each step with the rows deleted so far.
    /// - Returns: the number of deleted rows and the deleted blobs; `nil` when the workspace does not exist.
    @discardableResult
    package func erase(
        _ workspace: WorkspaceID, tell: (_ rows: Int, _ blobs: BlobUsage) -> Void = { _, _ in }
    ) async throws -> (rows: Int, blobs: BlobUsage)? {
        let isMarked = try await patiently { () async throws(StoreError) in
            try await erasing.beginErasure(of: workspace, now: surroundings.now())
        }
        guard isMarked else { return nil }
        var (rows, usage, position) = (0, BlobUsage(), ErasurePlace?.none)
        var isDone = false
        while !isDone {
            let step = try await patiently { [position] () async throws(StoreError) in
                try await erasing.erase(workspace, from: position, limit: limits.stepRows)
            }
            (rows, position, isDone) = (rows + step.rows, step.next, step.isDone)
            tell(rows, usage)
            try await surroundings.pause(false)
        }
        while let blobs {
            let some = try await patiently { () async throws(StoreError) in try await blobs.eraseBlobs(of: workspace) }
            guard some.blobs > 0 else { break }
            usage = BlobUsage(blobs: usage.blobs + some.blobs, bytes: usage.bytes + some.bytes)
            tell(rows, usage)
            try await surroundings.pause(false)
        }
        var progress = Progress()
        try await scrub(&progress) { _ in tell(rows, usage) }
        try await patiently { () async throws(StoreError) in
            try await erasing.endErasure(of: workspace, now: surroundings.now())
        }
        return (rows, usage)
    }

    /// Returns the keys of the records that may have opened a scope.
    package static func graves(of scope: ScopeID, openers: Set<String>) -> Set<RecordKey> {
        guard let id = LocalID(scope.text) else { return [] }
        return Set(openers.map { RecordKey(collection: $0, id: id) })
    }

    /// Ends all memberships in batches, and turns the record that opened the scope into a tombstone without an author.
    private func endMemberships(
        of scope: ScopeID, _ graves: Set<RecordKey>, in workspace: WorkspaceID, _ progress: inout Progress,
        _ tell: (Progress) -> Void
    ) async throws {
        var reads = ReadSet()
        reads.records = graves.sorted()
        var isBuried = graves.isEmpty
        var position: Seat?
        repeat {
            let page = try await patiently { [position] () async throws(StoreError) in
                try await erasing.members(of: scope, in: workspace, after: position, limit: limits.membersPerStep)
            }
            position = page.next
            var rest = page.users[...]
            while !rest.isEmpty || !isBuried {
                let some = Array(rest.prefix(limits.endsPerBatch))
                rest = rest.dropFirst(some.count)
                try await commit(reads, in: workspace) { state in
                    batch(after: state.head, ending: some, of: scope, burying: state.records.values)
                }
                isBuried = true
                reads = ReadSet()
                progress.ends += some.count
                tell(progress)
                try await surroundings.pause(false)
            }
        } while position != nil
    }

    func batch(
        after base: Head, ending users: [UserID] = [], of scope: ScopeID = ScopeID(""),
        burying found: some Sequence<StoredRecord> = []
    ) -> CommittedBatch {
        CommittedBatch.ending(
            users, of: scope, burying: found, after: base, nonce: surroundings.nonce(), now: surroundings.now())
    }

    @discardableResult
    func commit(
        _ reads: ReadSet, in workspace: WorkspaceID, _ draw: (OrderState) -> CommittedBatch?
    ) async throws -> CommittedBatch? {
        let batch = try await patiently { () async throws(StoreError) in
            try await store.commit(drawnFrom: reads, in: workspace, draw)
        }
        if let batch { await surroundings.committed(batch) }
        return batch
    }

    /// Retries a step that failed because the store was busy or briefly unreachable.
    @discardableResult
    func patiently<Value>(
        _ step: () async throws(StoreError) -> Value
    ) async throws -> Value {
        var tries = 1
        while true {
            do throws(StoreError) {
                return try await step()
            } catch {
                guard error.isPassing, tries < limits.triesMax else { throw error }
                tries += 1
                try await surroundings.pause(true)
            }
        }
    }
}

extension StoreError {
    /// True when the same step may succeed soon. A full or broken disk needs an operator first.
    fileprivate var isPassing: Bool {
        guard fault != .full, fault != .broken else { return false }
        return kind == .unavailable && self != .erasedWorkspace || kind == .timeout
    }
}

extension CommittedBatch {
    /// Returns a batch that ends memberships and makes nodes forget what they remember of earlier ones.
    ///
    /// - Parameter found: the stored records that may have opened the scope; the batch makes them tombstones without an
    ///   author.
    package static func ending(
        _ users: [UserID], of scope: ScopeID, burying found: some Sequence<StoredRecord>, after base: Head,
        nonce: UInt64,
        now: Milliseconds
    ) -> CommittedBatch {
        var head = Head(seq: base.seq, nonce: nonce, time: max(now, base.time), epoch: base.epoch)
        var records: [StoredRecord] = []
        for var record in found.sorted(by: { $0.key < $1.key })
        where record.scope == scope && (!record.isDeleted || record.author != .erased) {
            head.seq += 1
            (record.seq, record.isDeleted, record.author) = (head.seq, true, .erased)
            (record.updated, record.body, record.buried) = (head.time, [], [])
            records.append(record)
        }
        head.seq = max(head.seq, base.seq + 1)
        let ends = users.map { MembershipChange(user: $0, scope: scope, role: nil, seq: head.seq, since: nil) }
        var batch = CommittedBatch(low: base.seq + 1, head: head, records: records, memberships: ends)
        batch.forgets = true
        return batch
    }
}

extension Store {
    /// Commits the batch that `draw` makes of the stored state, beside the workspace's lanes on any node. If another
    /// commit came in between, it reads and draws again.
    ///
    /// - Returns: the batch; `nil` when `draw` returned none.
    package func commit(
        drawnFrom reads: ReadSet, in workspace: WorkspaceID, _ draw: (OrderState) -> CommittedBatch?
    ) async throws(StoreError) -> CommittedBatch? {
        for _ in 0..<100 {
            let reading = try await read(reads, in: workspace)
            guard let batch = draw(reading.state) else {
                await reading.turn?.end()
                return nil
            }
            let planned: PlannedBatch
            do throws(StoreError) {
                planned = try PlannedBatch(batch, on: reading.state, heard: reading.heard, turn: reading.turn)
            } catch {
                await reading.turn?.end()
                throw error
            }
            if case .written = try await commit(planned, in: workspace) { return batch }
        }
        throw StoreError(.unavailable, "other commits to the workspace always came first; try again")
    }
}
