import Foundation
import GRDB
import GRDBSQLite
package import TidemarkStore

/// The two files of an embedded store at one moment, read beside the server that goes on writing them.
///
/// A reader of SQLite's write-ahead log sees the state at its beginning, and nobody waits for it. While it lasts the
/// log cannot start over, so that it grows by all writes.
package struct EmbeddedSnapshot {
    /// The generation of this version's tables.
    package static var own: Int { EmbeddedSchema.generations.last?.number ?? EmbeddedSchema.first }

    /// Checks that this version reads tables of that generation, and returns its own.
    ///
    /// - Throws: `StoreError` of kind `unavailable`, with the remedy.
    @discardableResult
    package static func check(_ state: StoredState) throws(StoreError) -> Int {
        try GenerationState(generation: state.generation, oldest: state.oldest).check(
            first: EmbeddedSchema.first, own: own)
        return own
    }

    /// The attempts to find a moment without a blob's commit. One takes some 100 microseconds.
    private static let attemptsMax = 10_000
    /// The bytes of a page.
    package static let pageBytes = EmbeddedStore.pageBytes
    /// The pages in one step of a copy, and the steps after which the copy is flushed. A server waits for the same disk
    /// at each commit, and would wait for everything that was not flushed.
    private static let pagesPerStep: Int32 = 256
    private static let stepsPerFlush = 8

    let records: Database
    let blobs: Database

    /// Runs `body` with the files as they are now. Blocks.
    ///
    /// A record may name a blob, and the two files have no common transaction. The blobs' snapshot begins after the
    /// records', and is used only if no blob was committed between the two. So it shows both at one moment.
    ///
    /// - Throws: `StoreError` of kind `unavailable` when a file is missing, damaged, or of a version that cannot be
    ///   read; any error of `body`.
    package static func with<Value>(_ path: String, _ body: (EmbeddedSnapshot) throws -> Value) throws -> Value {
        try with(path, between: {}, body)
    }

    /// - Parameter between: runs after the first snapshot has begun and before the second one does, in each attempt.
    static func with<Value>(
        _ path: String, between: () throws -> Void, _ body: (EmbeddedSnapshot) throws -> Value
    ) throws -> Value {
        let blobsPath = EmbeddedBlobStore.path(besides: path)
        for path in [path, blobsPath] where !FileManager.default.fileExists(atPath: path) {
            throw StoreError(.unavailable, "\(path) does not exist: is its name right?")
        }
        do {
            let (records, blobs, watch) = (try queue(path), try queue(blobsPath), try queue(blobsPath))
            defer {
                for queue in [records, blobs, watch] {
                    // Nothing was written: nothing can be lost.
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
        throw StoreError(.unavailable, "\(blobsPath): blobs are being written without a pause: try again")
    }

    private static func queue(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// A number that changes with every commit to the blobs' file.
    private static func version(_ watch: DatabaseQueue) throws -> Int64 {
        try watch.inDatabase { try Int64.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
    }

    /// Begins the snapshot, which a transaction does with its first read.
    private static func begin(_ db: Database) throws {
        _ = try Int.fetchOne(db, sql: "SELECT 1 FROM sqlite_master LIMIT 1")
    }

    /// Returns the version marks of the records' file.
    ///
    /// - Throws: `StoreError` for another program's file, or one of a later version.
    package func state() throws -> StoredState {
        let migrator = EmbeddedMigrator(generations: EmbeddedSchema.generations, rowsMax: 1, report: { _ in })
        let state = try migrator.state(records)
        let revision = try Int64.fetchOne(records, sql: "SELECT coalesce(max(number), 0) FROM sync_schema") ?? 0
        let version = try String.fetchOne(records, sql: "SELECT sqlite_version()") ?? ""
        return StoredState(
            generation: state.generation, oldest: state.oldest, revision: revision, version: version)
    }

    /// The count of pages of both files, each of 4 KiB.
    package func pages() throws -> Int64 {
        try [records, blobs].reduce(0) { try $0 + (Int64.fetchOne($1, sql: "PRAGMA page_count") ?? 0) }
    }

    /// Copies both files as they are in this snapshot, free pages included. Neither path may exist.
    ///
    /// - Parameter progress: receives the count of copied pages of both files.
    /// - Throws: `StoreError` when the disk is full, or a page cannot be read.
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
        // The copy is flushed below, and by the caller at the end.
        try run("PRAGMA synchronous = OFF", target, path)
        guard let backup = sqlite3_backup_init(target, "main", source.sqliteConnection, "main") else {
            throw failure(target, path)
        }
        var code = SQLITE_OK
        var steps = 0
        while code == SQLITE_OK {
            // The source is in a transaction: no step sees later writes, and the copy never starts over.
            code = sqlite3_backup_step(backup, pagesPerStep)
            progress(Int64(sqlite3_backup_pagecount(backup) - sqlite3_backup_remaining(backup)))
            steps += 1
            // Flushed here so that little is left at the end; the caller still has to make the copy durable.
            guard steps.isMultiple(of: stepsPerFlush), fsync(descriptor) != 0 else { continue }
            sqlite3_backup_finish(backup)
            throw StoreError(.unavailable, "\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        let pages = Int64(sqlite3_backup_pagecount(backup))
        let ended = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, ended == SQLITE_OK else { throw failure(target, path) }
        // A file without a log can be read on a read-only disk. The store turns the log on again.
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

    /// Returns the faults that SQLite's own check finds in pages and indexes of both files.
    package func integrity() throws -> [Finding] {
        try [("records", records), ("blobs", blobs)].flatMap { name, db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check(20)").filter { $0 != "ok" }.map {
                Finding(.damage, "the file of the \(name): \($0.replacingOccurrences(of: "\n", with: " "))")
            }
        }
    }

    /// Reports the faults of the searches by scope: they find all records, and nothing else.
    package func filed(_ each: (Finding) -> Void) throws { try FilingAudit(records: records).run(each) }
}
