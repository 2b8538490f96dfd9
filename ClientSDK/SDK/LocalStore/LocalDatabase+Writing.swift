import Foundation
import GRDB
import TidemarkLock
import TidemarkSQLite

/// Every write goes through here: on disk for good when it returns, unless it can be had again from the server, and what a
/// disk or a file does wrong has one name.
///
/// Readers see a commit while the disk still confirms it. Nobody else hears of it: a push is a write too, which waits
/// for its turn. `DURABLE.md` says why.
extension LocalDatabase {
    /// - Parameter isConfirmed: false for what the server gives again as long as it was not acknowledged. It is on the disk
    ///   with the next write that is confirmed, or with `confirm()`.
    /// - Throws: `StoreError` with `diskFull`, `corrupt` or `databaseFailed`, besides what `body` throws; nothing is then
    ///   written. Or with `unconfirmed`, and then it is.
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

    /// Returns once all that was written is on the disk for good.
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

    /// The same from a task. While nobody else writes it is done where it is asked for, which spares two changes of thread: so
    /// one task at most stands still for a disk. Whoever comes meanwhile waits for the database's own thread.
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

    /// Takes away what made a write fail, where that can be done without losing anything.
    private func mends(_ error: DatabaseError, _ db: Database) throws -> Bool {
        guard error.isOfSearch else { return StoreError(error)?.code == .diskFull && emptiesLog(db) }
        try db.inTransaction {
            try searchUpkeep.forget(db)
            return .commit
        }
        return true
    }

    /// Copies the log on a full disk, so that its room can be written to; the file may have to grow for that.
    ///
    /// - Returns: false when that gave no room.
    private func emptiesLog(_ db: Database) -> Bool {
        guard let path else { return false }
        let reserve = DiskReserve(beside: path, bytes: limits.reserveBytes)
        // Unchanged: nothing was freed, as where there is no log.
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
        // Until the body has run.
        var result = Result<Value, any Error>.failure(CancellationError())
        try db.inTransaction {
            result = .success(try body(db))
            try searchUpkeep.keepUp(db, db.totalChangesCount - changes)
            return .commit
        }
        // Where nothing was logged there is nothing to confirm, and asking takes the disk as long.
        if isConfirmed, checkpointer?.commits != logged { try confirm(db) }
        searchUpkeep.wrote(db.totalChangesCount - changes)
        return try result.get()
    }

    /// On the writer's queue: nothing is committed meanwhile.
    private func confirm(_ db: Database) throws {
        do {
            try db.makeDurable()
            confirmedCommits.set(checkpointer?.commits ?? 0)
        } catch let error as DatabaseError {
            SuspectMark(path: path).set()
            throw StoreError(
                .unconfirmed,
                "written, but the disk did not confirm it (\(error)): whether it outlives a power cut is not known")
        }
    }

    private func named(_ error: any Error) -> any Error {
        let known = StoreError.naming(error)
        if error is DatabaseError, (known as? StoreError)?.code == .corrupt { SuspectMark(path: path).set() }
        return known
    }
}

extension DatabaseError {
    /// The trouble of a full-text index, which is made anew from the rows. The file is sound.
    var isOfSearch: Bool { extendedResultCode == .SQLITE_CORRUPT_VTAB }
}

extension StoreError {
    /// `nil` for an error that has no name of its own.
    init?(_ error: DatabaseError) {
        switch (error.resultCode, error.extendedResultCode) {
        case (_, .SQLITE_CORRUPT_VTAB): return nil
        case (.SQLITE_FULL, _), (_, .SQLITE_IOERR_SHMSIZE):
            self.init(.diskFull, "the disk is full: nothing was written, and reading goes on")
        case (.SQLITE_CORRUPT, _), (.SQLITE_NOTADB, _):
            self.init(.corrupt, "the database file is damaged: \(error.message ?? "unreadable")")
        default: return nil
        }
    }
}

/// Notes beside a file that it was found damaged while in use: it is looked through when it is opened the next time.
struct SuspectMark {
    /// `nil` for a database in memory.
    let path: String?

    private var file: String? { path.map { "\($0).suspect" } }

    var isSet: Bool { file.map { FileManager.default.fileExists(atPath: $0) } ?? false }

    func set() {
        // On a disk that takes no file, the damage is found again by the next write.
        if let file { _ = FileManager.default.createFile(atPath: file, contents: nil) }
    }

    func clear() {
        // What is not there needs no removal; what cannot be removed costs one more look.
        if let file { try? FileManager.default.removeItem(atPath: file) }
    }
}
