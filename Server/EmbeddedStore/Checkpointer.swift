import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// Copies the write-ahead log into the file beside the writer, so that no batch waits for it.
///
/// SQLite by itself copies the log in the commit that fills it up, which holds up whoever is next. Here a connection of its
/// own copies what there is, then what came meanwhile; the writer copies only the last bit, between two batches, and begins
/// the log anew. A log that fills up faster than that is copied by the writer after all, at ``backstop`` times the size.
final class Checkpointer: Sendable {
    /// How much larger than asked for the log may become.
    static let backstop: Int32 = 4

    private struct State {
        var isRunning = false
        var isClosed = false
        var rounds = 0
    }

    private let copier: DatabaseQueue
    private let pool: DatabasePool
    private let pagesMin: Int32
    private let lane = DispatchQueue(label: "tidemark.checkpoint")
    private let state = Mutex(State())

    /// - Parameter pagesMin: pages in the log at which it is copied.
    init(path: String, pool: DatabasePool, pagesMin: Int64) throws {
        var configuration = Configuration()
        configuration.label = "tidemark.checkpoint"
        copier = try DatabaseQueue(path: path, configuration: configuration)
        self.pool = pool
        self.pagesMin = Int32(clamping: max(1, pagesMin))
    }

    /// Times that the log was copied.
    var rounds: Int { state.withLock { $0.rounds } }

    /// Has SQLite tell of each commit on the writing connection, instead of copying the log by itself.
    func watch() throws {
        try pool.writeWithoutTransaction { db in
            guard let connection = db.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
            // Unretained: the store closes the connection before it lets go of this.
            let context = Unmanaged.passUnretained(self).toOpaque()
            sqlite3_wal_hook(
                connection,
                { context, connection, name, pages in
                    guard let context else { return SQLITE_OK }
                    Unmanaged<Checkpointer>.fromOpaque(context).takeUnretainedValue()
                        .logged(pages, connection, name)
                    return SQLITE_OK
                }, context)
        }
    }

    private func logged(_ pages: Int32, _ connection: OpaquePointer?, _ name: UnsafePointer<CChar>?) {
        guard pages >= pagesMin else { return }
        if pages / pagesMin >= Self.backstop {
            // As SQLite's own: what cannot be copied now is copied after a later commit.
            sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
            return
        }
        let starts = state.withLock { state in
            guard !state.isRunning, !state.isClosed else { return false }
            state.isRunning = true
            return true
        }
        if starts { lane.async { self.copy() } }
    }

    private func copy() {
        // Twice: the second time there is only what was written during the first.
        for _ in 0..<2 {
            // A failure, such as a full disk, leaves the log as it is, and the next commit asks again.
            _ = try? copier.writeWithoutTransaction { try $0.checkpoint(.passive) }
        }
        let isClosed = state.withLock { state in
            state.rounds += 1
            return state.isClosed
        }
        guard !isClosed else { return }
        pool.asyncWriteWithoutTransaction { db in
            // As above.
            _ = try? db.checkpoint(.passive)
            self.state.withLock { $0.isRunning = false }
        }
    }

    /// Waits for a copy that is under way. Blocks; call it before the pool is closed.
    func close() throws {
        state.withLock { $0.isClosed = true }
        lane.sync {}
        try copier.close()
    }
}
