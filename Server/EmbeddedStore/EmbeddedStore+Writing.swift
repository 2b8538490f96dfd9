import GRDB
import Synchronization
package import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

extension EmbeddedStore {
    /// See `Store.sequence`: one write transaction on the writer, where `BEGIN IMMEDIATE` is the workspace's lock. A batch
    /// of what the node remembers is planned before its turn there.
    package func sequence(
        _ workspace: WorkspaceID, reading reads: ReadSet, ahead: Bool,
        plan: @escaping @Sendable (ReadResult) -> CommittedBatch?
    ) async throws(StoreError) -> CommittedBatch? {
        let guessed = try guess(workspace, reads, plan)
        guard guessed != nil || !ahead else { throw .overtaken }
        let guess = guessed?.guess
        // Given back only now, so that who plans on top of it comes to the writer after it.
        let giveBack: () -> Void = { [memories] in if let loan = guessed?.loan { memories.put(loan, workspace) } }
        return try await onWriter(queued: giveBack) { [self] db in
            // Read here, where no follower can register meanwhile.
            let listeners = listeners.withLock { $0[workspace] ?? Listeners() }
            let step = SequenceStep(
                db: db, workspace: workspace, limits: limits, listeners: listeners, places: places,
                filing: filing)
            if let guess {
                do {
                    if try step.commit(guess, births: reads.births) { return guess.batch }
                } catch {
                    memories.forget(workspace)
                    throw error
                }
                memories.forget(workspace)
                guard !ahead else { throw StoreError.overtaken }
            }
            var loan = memories.take(workspace)
            let batch = try step.run(guess == nil ? reads : reads.lookingAtBirths, &loan.memory, plan: plan)
            memories.put(loan, workspace)
            return batch
        }
    }

    private func guess(
        _ workspace: WorkspaceID, _ reads: ReadSet, _ plan: (ReadResult) -> CommittedBatch?
    ) throws(StoreError) -> (guess: Guess, loan: OrderMemories.Loan)? {
        var loan = memories.take(workspace)
        let time = loan.memory.head?.time ?? 0
        let hasListeners = listeners.withLock { $0[workspace]?.isHeard(at: time) ?? false }
        if let guess = try loan.memory.guess(reads, hasListeners: hasListeners, plan: plan) { return (guess, loan) }
        memories.put(loan, workspace)
        return nil
    }

    /// Kept in memory: a registration ends with the process.
    package func follow(
        _ workspace: WorkspaceID, node: UInt64, now: Milliseconds
    ) async throws(StoreError) -> Head {
        // On the writing connection no step is under way: every later one sees the listener.
        try await onWriter { [self] db in
            try Prepared(EmbeddedSQL.makeWorkspace, db).execute { $0.text(workspace.text) }
            let head = try Prepared(EmbeddedSQL.head, db).first({ $0.text(workspace.text) }, { $0.head() })
            listeners.withLock {
                $0[workspace, default: Listeners()].renew(node, now: now, lifetime: limits.followLifetime)
            }
            return head ?? .start
        }
    }

    /// Makes a table that needs room in the file, and drops it, in one transaction.
    package func probe() async throws(StoreError) {
        try await onWriter { db in
            try db.inTransaction(.immediate) {
                try db.execute(
                    sql: """
                        CREATE TABLE sync_probe (bytes BLOB);
                        INSERT INTO sync_probe VALUES (zeroblob(65536));
                        DROP TABLE sync_probe
                        """)
                return .commit
            }
        }
    }

    /// Takes effect with the next batch.
    package func unfollow(_ workspace: WorkspaceID, node: UInt64) async throws(StoreError) {
        listeners.withLock {
            $0[workspace]?.remove(node)
            if $0[workspace]?.isEmpty == true { $0[workspace] = nil }
        }
    }
}
