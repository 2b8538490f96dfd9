import GRDB
import TidemarkLock
import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

/// The store contract on one SQLite file: the store that needs no set-up.
///
/// One process owns the file. Its one writing connection is the lock of every workspace; reads run beside it on
/// snapshots of their own. Commits are on disk before a call returns: `synchronous=FULL`.
package final class EmbeddedStore: Store {
    /// Settings of one file.
    package struct Options: Sendable {
        /// Connections that read beside the writer.
        package var readersMax = 4
        /// The longest wait for another program, such as a `sqlite3` shell in the middle of a write.
        package var busySeconds: Double = 5
        /// The largest size of the file; `nil` leaves it to the disk. Beyond it writes fail as `unavailable`.
        package var fileBytesMax: Int64?
        /// The memory for pages in the writing connection. Larger is not better: SQLite walks through all of it at the
        /// end of each commit that reordered pages, as most do. Other pages come from the system's own memory.
        package var cacheBytes = 8 * 1024 * 1024
        /// The size of the log at which it is copied into the file, beside the writer. A page that many batches changed
        /// is copied once, so that a larger log writes less.
        package var checkpointBytes: Int64 = 64 * 1024 * 1024
        /// The rows of a backfill that are filled in one transaction.
        package var backfillRows = 500
        /// Other generations than this version's, for tests.
        var generations = EmbeddedSchema.generations
        /// The bounds on records that wait to be filed.
        var filing = Filing.Bounds()
        package var limits = StoreLimits()

        package init() {}
    }

    let pool: DatabasePool
    let limits: StoreLimits
    /// The followers, which live in this process and are registered here; a restart ends them.
    let listeners = Lock<[WorkspaceID: Listeners]>([:])
    let places = ScopePlaces()
    let filing: Filing
    let erased = ErasedScopes()
    let generations: [Generation]
    let backfillRows: Int
    private let claim: FileClaim
    let checkpointer: Checkpointer
    /// The executor of lanes on the writer's queue. A lane waits for the writing connection only by suspending:
    /// otherwise it would wait for itself.
    package let laneExecutor: LaneExecutor? = LaneExecutor()

    /// Opens the file, and makes it and its folder if they are missing. Makes the parts of its tables that are needed
    /// to serve; ``migrate(_:isGentle:report:)`` makes the rest. Blocks.
    ///
    /// - Parameter report: receives the steps on tables of an earlier version.
    /// - Throws: `StoreError` of kind `unavailable` with the remedy: the file is in use, damaged, not writable, or
    ///   written by a later version.
    package init(
        path: String, options: Options = Options(), report: @escaping @Sendable (MigrationEvent) -> Void = { _ in }
    ) throws(StoreError) {
        generations = options.generations
        backfillRows = options.backfillRows
        limits = options.limits
        filing = Filing(options.filing)
        claim = try Self.claim(path)
        let logBytes = Int(clamping: options.checkpointBytes)
        checkpointer = Checkpointer(copiedAt: logBytes...logBytes)
        let migrator = EmbeddedMigrator(generations: generations, rowsMax: backfillRows, report: report)
        pool = try Self.open(path, options, checkpointer, writer: laneExecutor) { pool in
            try migrator.prepare(pool)
            try pool.writeWithoutTransaction { db in
                for step in try migrator.missing(.needed, db) { while try !migrator.advance(step, db) {} }
            }
        }
        try erased.load(pool)
        // Records that cannot be filed, for lack of space, are searched row by row until the next batch files them.
        do { try pool.write { try filing.run($0) } } catch { filing.forget() }
        do { try checkpointer.start(path, beside: pool) } catch { throw StoreError(sqlite: error) }
    }

    /// Waits for running calls, then closes the file, whose log is then empty. Later calls throw, except for this one,
    /// which does nothing. Blocks.
    package func close() throws(StoreError) {
        do { try checkpointer.close() } catch { throw StoreError(sqlite: error) }
        try Self.end(pool)
        claim.release()
    }

    /// Runs on the writing connection, in turn, to its end: a cancelled caller does not tear its commit.
    func onWriter<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        let result = await withCheckedContinuation { continuation in
            pool.asyncWriteWithoutTransaction { db in
                continuation.resume(returning: Result { try body(db) }.mapError(StoreError.init(sqlite:)))
            }
        }
        return try result.get()
    }

    /// Runs on a reading connection, in one snapshot.
    func onReader<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        let result = await withCheckedContinuation { continuation in
            pool.asyncRead { db in
                continuation.resume(returning: Result { try body(db.get()) }.mapError(StoreError.init(sqlite:)))
            }
        }
        return try result.get()
    }
}

/// The scopes' numbers in the indexes, as far as the writer has used them. Used on the writing connection.
final class ScopePlaces: Sendable {
    private struct Key: Hashable {
        let workspace: WorkspaceID
        let scope: ScopeID
    }

    private let known = Lock<[Key: Int64]>([:])

    /// Returns the scope's number, and assigns one if it has none.
    ///
    /// Within a transaction: its rollback must be followed by ``forget()``, since numbers assigned in it are lost.
    func place(of scope: ScopeID, in workspace: WorkspaceID, _ db: Database) throws -> Int64 {
        let key = Key(workspace: workspace, scope: scope)
        if let place = known.withLock({ $0[key] }) { return place }
        let bind: (inout Binding) -> Void = {
            $0.text(workspace.text)
            $0.text(scope.text)
        }
        var place = try Prepared(FilingSQL.place, db).first(bind) { $0.integer() }
        if place == nil { place = try Prepared(FilingSQL.makePlace, db).first(bind) { $0.integer() } }
        guard let place else { throw DatabaseError(resultCode: .SQLITE_INTERNAL, message: "a scope got no number") }
        known.withLock { known in
            if known.count >= Self.scopesMax { known.removeAll(keepingCapacity: true) }
            known[key] = place
        }
        return place
    }

    /// Forgets all numbers.
    func forget() { known.withLock { $0.removeAll() } }

    /// The bound on known scopes, some megabytes; beyond it all are looked up again.
    private static let scopesMax = 65_536
}
