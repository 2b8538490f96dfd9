import Foundation
import GRDB
import GRDBSQLite
package import TidemarkStore

/// The two files of an embedded store at one moment, read beside the server that goes on writing them.
///
/// A reader of SQLite's write-ahead log sees what was there when it began, and nobody waits for it. While it lasts the log
/// cannot begin anew, so that it grows by what is written meanwhile.
package struct EmbeddedSnapshot {
    /// The generation that this version brings tables to.
    package static var own: Int { EmbeddedSchema.generations.last?.number ?? EmbeddedSchema.landed }
    /// Attempts to find a moment in which no blob was just being committed. One takes some 100 microseconds.
    private static let attemptsMax = 10_000
    /// Bytes of a page.
    package static let pageBytes = EmbeddedStore.pageBytes
    /// Pages in one step of a copy, and steps after which the disk is waited for: a server beside it waits for the same disk
    /// at each commit, and would wait for all that was written since.
    private static let pagesPerStep: Int32 = 256
    private static let stepsPerFlush = 8

    let records: Database
    let blobs: Database

    /// Runs `body` with the files as they are now. Blocks.
    ///
    /// A record may name a blob, and the two files have no transaction together: the blobs' snapshot begins after the
    /// records', and counts only when no blob was committed between the two. So it shows both at one moment.
    ///
    /// - Throws: `StoreError` of kind `unavailable` when a file is missing, damaged, or of a version that cannot be read; what
    ///   `body` throws.
    package static func with<Value>(_ path: String, _ body: (EmbeddedSnapshot) throws -> Value) throws -> Value {
        try with(path, between: {}, body)
    }

    /// - Parameter between: runs after the first snapshot has begun and before the second one does, in each attempt.
    static func with<Value>(
        _ path: String, between: () throws -> Void, _ body: (EmbeddedSnapshot) throws -> Value
    ) throws -> Value {
        let blobsPath = EmbeddedBlobStore.path(besides: path)
        for path in [path, blobsPath] where !FileManager.default.fileExists(atPath: path) {
            throw StoreError(.unavailable, "\(path) is not there: is its name right?")
        }
        do {
            let (records, blobs, watch) = (try queue(path), try queue(blobsPath), try queue(blobsPath))
            defer {
                for queue in [records, blobs, watch] {
                    // Nothing was written: there is nothing to lose.
                    try? queue.close()
                }
            }
            for _ in 0..<attemptsMax {
                let before = try version(watch)
                let value: Value? = try records.read { records in
                    try begin(records)
                    try between()
                    return try blobs.read { blobs in
                        try begin(blobs)
                        guard try version(watch) == before else { return nil }
                        return try body(EmbeddedSnapshot(records: records, blobs: blobs))
                    }
                }
                if let value { return value }
            }
        } catch let error as DatabaseError {
            let error = StoreError(sqlite: error)
            throw StoreError(error.kind, "\(path): \(error.reason)", fault: error.fault)
        }
        throw StoreError(.unavailable, "\(blobsPath): blobs are written without a pause: try again")
    }

    private static func queue(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Another one when somebody has committed in between.
    private static func version(_ watch: DatabaseQueue) throws -> Int64 {
        try watch.inDatabase { try Int64.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
    }

    /// The snapshot of a transaction begins with what it reads first.
    private static func begin(_ db: Database) throws {
        _ = try Int.fetchOne(db, sql: "SELECT 1 FROM sqlite_master LIMIT 1")
    }

    /// What the records' file says of itself.
    ///
    /// - Throws: `StoreError` for a file that is none of ours, or of a later version.
    package func state() throws -> StoredState {
        let migrator = EmbeddedMigrator(generations: EmbeddedSchema.generations, rowsMax: 1, report: { _ in })
        let state =
            try records.tableExists("sync_fence") ? migrator.state(records) : migrator.stateBeforeGenerations(records)
        let revision =
            try records.tableExists("sync_schema")
            ? Int64.fetchOne(records, sql: "SELECT coalesce(max(number), 0) FROM sync_schema") ?? 0 : 0
        let version = try String.fetchOne(records, sql: "SELECT sqlite_version()") ?? ""
        return StoredState(
            generation: state.generation, oldest: state.oldest, revision: revision, version: version)
    }

    /// Pages of both files, each of 4 KiB.
    package func pages() throws -> Int64 {
        try [records, blobs].reduce(0) { try $0 + (Int64.fetchOne($1, sql: "PRAGMA page_count") ?? 0) }
    }

    /// Copies both files as they are in this snapshot, pages that are free included. Neither path may exist.
    ///
    /// - Parameter progress: given the pages copied so far, of both files.
    /// - Throws: `StoreError`: the disk is full, or a page cannot be read.
    package func copy(records path: String, blobs blobsPath: String, progress: (Int64) -> Void) throws {
        var before: Int64 = 0
        for (source, path) in [(records, path), (blobs, blobsPath)] {
            before += try Self.copy(source, to: path) { progress(before + $0) }
        }
    }

    private static func copy(_ source: Database, to path: String, progress: (Int64) -> Void) throws -> Int64 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(.unavailable, "\(path) cannot be made: \(String(cString: strerror(errno)))")
        }
        var target: OpaquePointer?
        defer {
            sqlite3_close_v2(target)
            close(descriptor)
        }
        guard sqlite3_open_v2(path, &target, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
            throw failure(target, path)
        }
        // The disk is waited for below, and by the caller when all of it is written.
        try run("PRAGMA synchronous = OFF", target, path)
        guard let backup = sqlite3_backup_init(target, "main", source.sqliteConnection, "main") else {
            throw failure(target, path)
        }
        var code = SQLITE_OK
        var steps = 0
        while code == SQLITE_OK {
            // The source is in a transaction: no step sees anything later, and none begins anew.
            code = sqlite3_backup_step(backup, pagesPerStep)
            progress(Int64(sqlite3_backup_pagecount(backup) - sqlite3_backup_remaining(backup)))
            steps += 1
            // So that little is left to wait for at the end; what is promised then is the caller's to ask for.
            guard steps.isMultiple(of: stepsPerFlush), fsync(descriptor) != 0 else { continue }
            sqlite3_backup_finish(backup)
            throw StoreError(.unavailable, "\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        let pages = Int64(sqlite3_backup_pagecount(backup))
        let ended = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, ended == SQLITE_OK else { throw failure(target, path) }
        // A file with no log beside it, that can be read where nothing can be written. The store turns the log on again.
        try run("PRAGMA journal_mode = DELETE", target, path)
        return pages
    }

    private static func run(_ sql: String, _ connection: OpaquePointer?, _ path: String) throws {
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw failure(connection, path) }
    }

    private static func failure(_ connection: OpaquePointer?, _ path: String) -> StoreError {
        let code = sqlite3_extended_errcode(connection)
        let error = StoreError(
            sqlite: DatabaseError(
                resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection))))
        return StoreError(error.kind, "\(path): \(error.reason)", fault: error.fault)
    }

    /// SQLite's own check of every page and index of both files.
    package func integrity() throws -> [Finding] {
        try [("records", records), ("blobs", blobs)].flatMap { name, db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check(20)").filter { $0 != "ok" }.map {
                Finding(.damage, "the file of the \(name): \($0.replacingOccurrences(of: "\n", with: " "))")
            }
        }
    }

    /// All rows, table by table, and what is wrong between tables.
    package func rows(_ each: (StoredRow) throws -> Void) throws {
        try EmbeddedRows(records: records, blobs: blobs).all(each)
    }
}
