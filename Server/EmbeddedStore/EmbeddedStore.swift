import GRDB
import TidemarkLock
import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

/// The contract on one SQLite file: the store that needs no set-up.
///
/// One process owns the file. Its one writing connection is the lock of every workspace; reads run beside it on
/// snapshots of their own. Commits are on disk before a call returns: `synchronous=FULL`.
package final class EmbeddedStore: Store {
    /// Settings of one file.
    package struct Options: Sendable {
        /// Connections that read beside the writer.
        package var readersMax = 4
        /// How long to wait for another program, such as a `sqlite3` shell in the middle of a write.
        package var busySeconds: Double = 5
        /// The size that the file may reach; `nil` leaves it to the disk. Writes fail as `unavailable` beyond it.
        package var fileBytesMax: Int64?
        /// Memory for pages in the writing connection. Larger is not better: SQLite walks through all of it at the end of
        /// each commit that reordered pages, as most do. What is not in it comes out of the system's own memory.
        package var cacheBytes = 8 * 1024 * 1024
        /// Size of the log at which it is copied into the file, beside the writer. A page changed by many batches is
        /// copied once, so that a larger log writes less.
        package var checkpointBytes: Int64 = 64 * 1024 * 1024
        /// Rows of a backfill that are filled in in one transaction.
        package var backfillRows = 500
        /// Others than this version's, for tests.
        var generations = EmbeddedSchema.generations
        /// How many records may wait to be entered where a search by scope finds them at once.
        var filing = Filing.Bounds()
        package var limits = StoreLimits()

        package init() {}
    }

    let pool: DatabasePool
    let limits: StoreLimits
    /// Followers live in this process, so that is where they are registered; a restart ends them.
    let listeners = Lock<[WorkspaceID: Listeners]>([:])
    let places = ScopePlaces()
    let filing: Filing
    let erased = ErasedScopes()
    let generations: [Generation]
    let backfillRows: Int
    private let claim: FileClaim
    let checkpointer: Checkpointer
    /// No lane waits for the writing connection other than by suspending: it would wait for itself.
    package let laneExecutor: LaneExecutor? = LaneExecutor()

    /// Opens the file, making it and its folder when they are missing, and makes what is missing of its tables to serve; the
    /// rest is for ``migrate(_:isGentle:report:)``. Blocks.
    ///
    /// - Parameter report: told what is being done to tables of an earlier version.
    /// - Throws: `StoreError` of kind `unavailable` with what to do about it: the file is in use, damaged, not
    ///   writable, or written by a later version.
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
        // What cannot be filed, for want of room, is looked through until the next batch files it.
        do { try pool.write { try filing.run($0) } } catch { filing.forget() }
        do { try checkpointer.start(path, beside: pool) } catch { throw StoreError(sqlite: error) }
    }

    /// Waits for running calls, then closes the file, which alone holds everything; later calls throw, but for this one,
    /// which does nothing. Blocks.
    package func close() throws(StoreError) {
        do { try checkpointer.close() } catch { throw StoreError(sqlite: error) }
        try Self.end(pool)
        claim.release()
    }

    /// What the writing connection says of its own settings, for diagnostics.
    package func durability() async throws(StoreError) -> Durability {
        try await onWriter { db in
            Durability(
                journalMode: try String.fetchOne(db, sql: "PRAGMA journal_mode") ?? "",
                synchronous: try Int.fetchOne(db, sql: "PRAGMA synchronous") ?? -1,
                isFlushed: try Bool.fetchOne(db, sql: "PRAGMA fullfsync") ?? false)
        }
    }

    /// What SQLite promises about a commit.
    package struct Durability: Hashable, Sendable {
        /// `wal`.
        package var journalMode: String
        /// 2 is FULL: a commit is on disk before it is answered.
        package var synchronous: Int
        /// On Darwin the drive writes down what it has in memory of its own, too.
        package var isFlushed: Bool
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

/// The numbers that the indexes know scopes by, as far as the writer has met them. Used on the writing connection.
final class ScopePlaces: Sendable {
    private struct Key: Hashable {
        let workspace: WorkspaceID
        let scope: ScopeID
    }

    private let known = Lock<[Key: Int64]>([:])

    /// The scope's number, which it gets now if it has none.
    ///
    /// Within a transaction: who rolls it back must ``forget()``, since a number that was given in it is gone.
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

    /// Knows nothing any more.
    func forget() { known.withLock { $0.removeAll() } }

    /// Some megabytes; beyond it all are looked up again.
    private static let scopesMax = 65_536
}
