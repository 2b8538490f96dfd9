import Dispatch
package import GRDB
import GRDBSQLite
import TidemarkLock

/// Copies the write-ahead log of a SQLite file into the file on its own connection, so that no write waits for it.
///
///     let checkpointer = Checkpointer(copiedAt: 4 << 20...4 << 20)
///     configuration.prepareDatabase { db in checkpointer.watch(db) }
///     let pool = try DatabasePool(path: path, configuration: configuration)
///     try checkpointer.start(path, beside: pool)
///
/// SQLite itself copies the log in the commit that fills it, which delays the next write. Here a separate connection
/// copies the log, and then what was written meanwhile. The writer only copies the rest, between two writes, and
/// restarts the log. If the log fills faster than that, the writer copies it after all, at ``backstop`` times the size.
///
/// Before it is started, and after it is closed, the writer copies as SQLite would. It lives as long as the pool whose
/// connections it watches.
package final class Checkpointer: Sendable {
    /// The factor by which the log may exceed the requested size.
    package static let backstop: Int32 = 4
    /// The factor of the requested size at which the log is copied without waiting for a pause.
    private static let patience: Int32 = 3
    private static let busySeconds: Double = 5
    /// The page size until the file's own is known.
    private static let usualPageBytes = 4_096

    private enum Phase: Equatable {
        case idle
        /// Waits for a pause; `since` is the number of commits at its beginning.
        case waiting(since: Int)
        case copying
    }

    private struct State {
        /// The pages in the log at which it is copied, for the present size of the file.
        var pagesMin = Int32.max
        var copier: DatabaseQueue?
        weak var pool: DatabasePool?
        var phase = Phase.idle
        var commits = 0
        var rounds = 0

        mutating func noteFile(bytes: Int, pageBytes: Int, copiedAt: ClosedRange<Int>) {
            pagesMin = Checkpointer.pagesMin(beside: bytes, pageBytes: pageBytes, copiedAt: copiedAt)
        }
    }

    /// Returns the pages in the log at which it is copied: half of the file's bytes, within the bounds.
    package static func pagesMin(beside bytes: Int, pageBytes: Int, copiedAt: ClosedRange<Int>) -> Int32 {
        let logBytes = max(copiedAt.lowerBound, min(copiedAt.upperBound, bytes / 2))
        return Int32(clamping: max(1, logBytes / max(1, pageBytes)))
    }

    private let copiedAt: ClosedRange<Int>
    private let rest: Duration?
    private let lane = DispatchQueue(label: "tidemark.checkpoint")
    private let state: Lock<State>

    /// - Parameters:
    ///   - copiedAt: bytes in the log at which it is copied: half of the file's bytes, within these bounds.
    ///   - rest: the pause in writing that a copy waits for, where such pauses are likely, since a copy shares the disk
    ///     with the writer. `nil` copies at once.
    package init(copiedAt: ClosedRange<Int>, rest: Duration? = nil) {
        self.copiedAt = copiedAt
        self.rest = rest
        var state = State()
        state.noteFile(bytes: 0, pageBytes: Self.usualPageBytes, copiedAt: copiedAt)
        self.state = Lock(state)
    }

    /// The number of commits that wrote to the log, on the connections that it watches.
    package var commits: Int { state.withLock { $0.commits } }

    /// The number of times that the log was copied, and restarted unless a reader used it.
    package var rounds: Int { state.withLock { $0.rounds } }

    /// Makes SQLite report each commit on a connection instead of copying the log itself.
    ///
    /// Call it where the pool prepares its connections: the pool then keeps the checkpointer as long as they are open.
    package func watch(_ db: Database) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            db.sqliteConnection,
            { context, connection, name, pages in
                guard let context else { return SQLITE_OK }
                Unmanaged<Checkpointer>.fromOpaque(context).takeUnretainedValue().logged(pages, connection, name)
                return SQLITE_OK
            }, context)
    }

    /// Opens the connection that copies.
    package func start(_ path: String, beside pool: DatabasePool) throws {
        var configuration = Configuration()
        configuration.label = "tidemark.checkpoint"
        // A connection that closes the file, or recovers its log, locks it for a moment. No copy waits for that.
        configuration.busyMode = .timeout(Self.busySeconds)
        // Like the writer: copied pages are durable in the file before the log restarts.
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA fullfsync = ON") }
        let copier = try DatabaseQueue(path: path, configuration: configuration)
        state.withLock { state in
            state.copier = copier
            state.pool = pool
        }
        try copier.inDatabase { db in try measure(db) }
    }

    /// Notes the size of the file. Measuring it in each commit would make all of them slower.
    private func measure(_ db: Database) throws {
        let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        let pageBytes = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? Self.usualPageBytes
        state.withLock { $0.noteFile(bytes: pages * pageBytes, pageBytes: pageBytes, copiedAt: copiedAt) }
    }

    private func logged(_ pages: Int32, _ connection: OpaquePointer?, _ name: UnsafePointer<CChar>?) {
        let (size, isStarted, next) = state.withLock { state -> (Int32, Bool, Phase?) in
            state.commits += 1
            let size = pages / state.pagesMin
            guard state.copier != nil, size > 0, size < Self.backstop else { return (size, state.copier != nil, nil) }
            switch state.phase {
            case .idle: state.phase = rest == nil ? .copying : .waiting(since: state.commits)
            case .waiting where size >= Self.patience: state.phase = .copying
            case .waiting, .copying: return (size, true, nil)
            }
            return (size, true, state.phase)
        }
        switch next {
        case .copying?: lane.async { self.copy() }
        case .waiting(let since)?: look(again: since, seen: since)
        case .idle?, nil:
            guard size >= (isStarted ? Self.backstop : 1) else { return }
            // Like SQLite's own copy: pages that cannot be copied now are copied after a later commit.
            sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        }
    }

    /// Copies as soon as nothing was written for the length of a pause.
    private func look(again since: Int, seen: Int) {
        lane.asyncAfter(deadline: .now() + (rest ?? .zero) / .seconds(1)) {
            let commits = self.state.withLock { state -> Int? in
                guard state.phase == .waiting(since: since) else { return nil }
                if state.commits == seen { state.phase = .copying }
                return state.commits
            }
            guard let commits else { return }
            if commits == seen { self.copy() } else { self.look(again: since, seen: commits) }
        }
    }

    private func copy() {
        let copier = state.withLock { $0.copier }
        // Copies twice: the second time only what was written during the first.
        for _ in 0..<2 {
            // A failure, such as a full disk, leaves the log as it is, and a later commit tries again.
            _ = try? copier?.writeWithoutTransaction { db in
                try db.checkpoint(.passive)
                // Left to the writer's own copy, this delayed the next write by 1 to 2 ms.
                try db.makeCopiedDurable()
                try measure(db)
            }
        }
        guard let pool = state.withLock({ $0.copier == nil ? nil : $0.pool }) else { return }
        pool.asyncWriteWithoutTransaction { db in
            // After a failure a later commit tries again.
            _ = try? db.checkpoint(.passive)
            self.state.withLock { ($0.phase, $0.rounds) = (.idle, $0.rounds + 1) }
        }
    }

    /// Waits for a copy in progress, during which the log cannot be emptied. Blocks.
    package func settle() { lane.sync {} }

    /// Waits for a copy in progress, and closes its connection. Blocks. Call it before the pool is closed, so that
    /// nothing is left in its log.
    package func close() throws {
        let copier = state.withLock { state in
            defer { state.copier = nil }
            return state.copier
        }
        lane.sync {}
        try copier?.close()
    }
}
