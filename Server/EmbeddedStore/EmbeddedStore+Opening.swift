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

    /// Claims the file before it exists.
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
                // Effective in a file without tables: free pages can then be given back (COMPACTION.md).
                if !db.configuration.readonly { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
                checkpointer?.watch(db)
            }
            let pool = try DatabasePool(path: path, configuration: configuration)
            // GRDB sets NORMAL when it turns WAL on, after `prepareDatabase`: FULL must be set later. The pool has one
            // writing connection for its whole life, so the setting stays.
            try pool.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL")
                // Effective on Darwin only: the log and its copies are then on the drive itself.
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

    /// Waits for running calls and closes the file with an empty log, so that a copy of the file is complete.
    static func end(_ pool: DatabasePool) throws(StoreError) {
        do {
            // Pages that cannot be copied, for lack of space, are read from the log at the next start.
            _ = try? pool.writeWithoutTransaction { db in
                // After an earlier close there is no connection, and SQLite would read invalid memory.
                if db.sqliteConnection != nil { try db.checkpoint(.truncate) }
            }
            try pool.close()
        } catch {
            throw StoreError(sqlite: error)
        }
    }
}
