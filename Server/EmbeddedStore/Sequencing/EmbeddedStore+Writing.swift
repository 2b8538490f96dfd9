import GRDB
import TidemarkLock
package import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

extension EmbeddedStore {
    /// See `Store.read`: one snapshot, without a lock, since no other process writes the file.
    package func read(_ reads: ReadSet, in workspace: WorkspaceID) async throws(StoreError) -> Reading {
        Reading(
            try await onReader { [erased] db in
                try erased.check(workspace)
                return try BatchReads(db: db, workspace: workspace).find(reads.lookingAtBirths)
            })
    }

    /// See `Store.commit`: one write transaction on the writer, which runs calls in their order.
    package func commit(
        _ planned: PlannedBatch, in workspace: WorkspaceID
    ) async throws(StoreError) -> Commitment {
        try await onWriter { [self] db in
            try erased.check(workspace)
            // Read here, where no follower can register meanwhile.
            let isHeard = listeners.withLock { $0[workspace]?.isHeard(at: planned.batch.head.time) ?? false }
            let write = BatchWrite(
                db: db, workspace: workspace, limits: limits, keepsBody: limits.keepsBody(isHeard: isHeard),
                places: places,
                filing: filing,
                erased: erased)
            return try write.commit(planned) ? .written(isHeard: isHeard) : .moved
        }
    }

    /// Kept in memory: a registration ends with the process.
    package func follow(
        _ workspace: WorkspaceID, node: UInt64, now: Milliseconds
    ) async throws(StoreError) -> Head {
        // On the writing connection no step is in progress: every later one sees the listener.
        try await onWriter { [self] db in
            try erased.check(workspace)
            try Prepared(EmbeddedSQL.makeWorkspace, db).execute { $0.text(workspace.text) }
            let head = try Prepared(EmbeddedSQL.head, db).first({ $0.text(workspace.text) }, { $0.head() })
            listeners.withLock {
                $0[workspace, default: Listeners()].renew(node, now: now, lifetime: limits.followLifetime)
            }
            return head ?? .start
        }
    }

    /// Makes a table that needs space in the file, and drops it, in one transaction.
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
