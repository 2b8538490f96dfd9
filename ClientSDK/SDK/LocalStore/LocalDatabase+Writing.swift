import Foundation
import GRDB
import TidemarkLock
import TidemarkSQLite

/// The one path of every write. A write is durable when the call returns, unless the server can send the data again.
/// Errors of a disk or a file get one name.
///
/// Readers see a commit while the disk still confirms it. Nothing of it is sent before that: a push is a write too,
/// which waits for its turn. `DURABLE.md` explains why.
extension LocalDatabase {
    /// - Parameter isConfirmed: false for data that the server sends again as long as it is not acknowledged. It is on
    ///   the disk with the next write that is confirmed, or with `confirm()`.
    /// - Throws: `StoreError` with `diskFull`, `corrupt` or `databaseFailed`, besides the errors of `body`; nothing is
    ///   written then. With `unconfirmed` it is written.
    func change<Result>(isConfirmed: Bool = true, _ body: (Database) throws -> Result) throws -> Result {
        writesUnderWay.add(1)
        defer { writesUnderWay.add(-1) }
        return try changeHere(isConfirmed, body)
    }

    private func changeHere<Result>(_ isConfirmed: Bool, _ body: (Database) throws -> Result) throws -> Result {
        do {
            do {
                return try writer.writeWithoutTransaction { db in try durably(db, isConfirmed, body) }
            } catch let error as DatabaseError {
                guard try writer.writeWithoutTransaction({ db in try mends(error, db) }) else { throw error }
                return try writer.writeWithoutTransaction { db in try durably(db, isConfirmed, body) }
            }
        } catch {
            throw named(error)
        }
    }

    /// Returns once all writes are durable on the disk.
    ///
    /// - Throws: `StoreError` with `unconfirmed`.
    package func confirm() throws {
        try writer.writeWithoutTransaction { db in
            guard let commits = checkpointer?.commits, commits != confirmedCommits.current else {
                return
            }
            try confirm(db)
        }
    }

    /// Writes from a task. While no other write is under way, it writes on the task's own thread, which saves two
    /// changes of thread: at most one task therefore blocks for a disk. Other writers wait for the database's own
    /// thread.
    @concurrent func change<Result: Sendable>(
        isConfirmed: Bool = true, _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        let others = writesUnderWay.add(1) - 1
        defer { writesUnderWay.add(-1) }
        guard others > 0 else {
            try Task.checkCancellation()
            return try changeHere(isConfirmed, body)
        }
        do {
            do {
                return try await writer.writeWithoutTransaction { db in try durably(db, isConfirmed, body) }
            } catch let error as DatabaseError {
                guard try await writer.writeWithoutTransaction({ db in try mends(error, db) }) else { throw error }
                return try await writer.writeWithoutTransaction { db in try durably(db, isConfirmed, body) }
            }
        } catch {
            throw named(error)
        }
    }

    /// Removes the cause of a failed write, if nothing is lost by it, and returns whether to try again.
    private func mends(_ error: DatabaseError, _ db: Database) throws -> Bool {
        guard error.isOfSearch else { return StoreError(error)?.code == .diskFull && emptiesLog(db) }
        try db.inTransaction {
            try searchUpkeep.forget(db)
            return .commit
        }
        return true
    }

    /// Copies the log on a full disk, so that its space can be written to; the file may have to grow for that.
    ///
    /// - Returns: false when that freed no space.
    private func emptiesLog(_ db: Database) -> Bool {
        guard let path else { return false }
        let reserve = DiskReserve(beside: path, bytes: limits.reserveBytes)
        // An unchanged size means that nothing was freed, as without a log.
        let before = DiskFile.bytes(of: "\(path)-wal")
        reserve.release()
        // A log that cannot be copied stays as it is.
        _ = try? db.checkpoint(.truncate)
        reserve.take()
        return DiskFile.bytes(of: "\(path)-wal") < before
    }

    private func durably<Value>(
        _ db: Database, _ isConfirmed: Bool, _ body: (Database) throws -> Value
    ) throws -> Value {
        // A closed connection has no counts to ask for.
        guard db.sqliteConnection != nil else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the store is closed")
        }
        let (logged, changes) = (checkpointer?.commits, db.totalChangesCount)
        // Overwritten when the body has run.
        var result = Result<Value, any Error>.failure(CancellationError())
        try db.inTransaction {
            result = .success(try body(db))
            try searchUpkeep.keepUp(db, db.totalChangesCount - changes)
            return .commit
        }
        // If nothing was logged there is nothing to confirm, and asking the disk takes as long.
        if isConfirmed, checkpointer?.commits != logged { try confirm(db) }
        searchUpkeep.wrote(db.totalChangesCount - changes)
        return try result.get()
    }

    /// Runs on the writer's queue: nothing is committed meanwhile.
    private func confirm(_ db: Database) throws {
        do {
            try db.makeDurable()
            confirmedCommits.set(checkpointer?.commits ?? 0)
        } catch let error as DatabaseError {
            SuspectMark(path: path).set()
            throw StoreError(
                .unconfirmed,
                "written, but the disk did not confirm it (\(error)): it may not survive a power cut")
        }
    }

    private func named(_ error: any Error) -> any Error {
        let known = StoreError.naming(error)
        if error is DatabaseError, (known as? StoreError)?.code == .corrupt { SuspectMark(path: path).set() }
        return known
    }
}

extension DatabaseError {
    /// True for an error of a full-text index, which is rebuilt from the rows. The file is sound.
    var isOfSearch: Bool { extendedResultCode == .SQLITE_CORRUPT_VTAB }
}

extension StoreError {
    /// Creates the error; `nil` for an error without a code of its own.
    init?(_ error: DatabaseError) {
        switch (error.resultCode, error.extendedResultCode) {
        case (_, .SQLITE_CORRUPT_VTAB): return nil
        case (.SQLITE_FULL, _), (_, .SQLITE_IOERR_SHMSIZE):
            self.init(.diskFull, "the disk is full: nothing is written until space is freed, and reading still works")
        case (.SQLITE_CORRUPT, _), (.SQLITE_NOTADB, _):
            self.init(.corrupt, "the database file is damaged: \(error.message ?? "unreadable")")
        default: return nil
        }
    }
}

/// A mark beside a file that was found damaged while in use: the file is checked when it is opened the next time.
struct SuspectMark {
    /// `nil` for a database in memory.
    let path: String?

    private var file: String? { path.map { "\($0).suspect" } }

    var isSet: Bool { file.map { FileManager.default.fileExists(atPath: $0) } ?? false }

    func set() {
        // If the disk accepts no file, the next write finds the damage again.
        if let file { _ = FileManager.default.createFile(atPath: file, contents: nil) }
    }

    func clear() {
        // A missing file needs no removal; one that cannot be removed costs one more check.
        if let file { try? FileManager.default.removeItem(atPath: file) }
    }
}
