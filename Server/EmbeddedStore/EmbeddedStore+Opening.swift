import Foundation
import GRDB
import TidemarkSQLite
import TidemarkStore

extension EmbeddedStore {
    static let pageBytes: Int64 = 4096

    static func claim(_ path: String) throws(StoreError) -> FileClaim {
        let claim = try claimFolder(path)
        try EmbeddedRestoring.check(path)
        try FileClaim.restrict(path)
        return claim
    }

    /// The right to the file, before it is there.
    static func claimFolder(_ path: String) throws(StoreError) -> FileClaim {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StoreError(.unavailable, "the folder of \(path) cannot be made: check the owner of its parent")
        }
        return try FileClaim(path)
    }

    static func open(
        _ path: String, _ options: Options, _ checkpointer: Checkpointer? = nil, writer: LaneExecutor? = nil,
        prepare: (DatabasePool) throws -> Void
    ) throws(StoreError) -> DatabasePool {
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(options.busySeconds)
            configuration.maximumReaderCount = options.readersMax
            configuration.label = "tidemark.store"
            configuration.writeTargetQueue = writer?.queue
            configuration.prepareDatabase { db in
                // Takes effect in a file that has no table yet: free pages can then be given back (COMPACTION.md).
                if !db.configuration.readonly { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
                checkpointer?.watch(db)
            }
            let pool = try DatabasePool(path: path, configuration: configuration)
            // GRDB sets NORMAL while it turns WAL on, after `prepareDatabase`: FULL must come later. The pool has one
            // writing connection for its whole life, so it stays.
            try pool.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL")
                // On Darwin alone: the drive itself has it, of the log and of what is copied from it.
                try db.execute(sql: "PRAGMA fullfsync = ON")
                try db.execute(sql: "PRAGMA cache_size = -\(options.cacheBytes / 1024)")
                if checkpointer == nil {
                    try db.execute(sql: "PRAGMA wal_autocheckpoint = \(options.checkpointBytes / pageBytes)")
                }
                if let bytes = options.fileBytesMax {
                    try db.execute(sql: "PRAGMA max_page_count = \(max(bytes / pageBytes, 1))")
                }
            }
            try prepare(pool)
            try pool.writeWithoutTransaction { try $0.gatherLogWrites() }
            return pool
        } catch let error as StoreError {
            throw StoreError(error.kind, "\(path): \(error.reason)", fault: error.fault)
        } catch {
            let reason = StoreError(sqlite: error)
            throw StoreError(.unavailable, "\(path): \(reason.reason)")
        }
    }

    /// Waits for running calls and closes the file, with nothing left in its log: who copies it then has everything.
    static func end(_ pool: DatabasePool) throws(StoreError) {
        do {
            // What cannot be copied, for want of room, is read from the log at the next start.
            _ = try? pool.writeWithoutTransaction { db in
                // Without a connection, which is when it has been closed before, SQLite would read from nowhere.
                if db.sqliteConnection != nil { try db.checkpoint(.truncate) }
            }
            try pool.close()
        } catch {
            throw StoreError(sqlite: error)
        }
    }
}
