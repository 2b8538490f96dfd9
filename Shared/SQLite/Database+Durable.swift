package import GRDB
import GRDBSQLite

extension Database {
    /// Waits until everything that was committed on this connection is on the disk for good.
    ///
    ///     PRAGMA synchronous = NORMAL
    ///     try db.inTransaction { …; return .commit }    // others see it from here on
    ///     try db.makeDurable()                          // a power cut loses nothing from here on
    ///
    /// The same call of the disk as that in a commit with `synchronous = FULL`, but after the commit instead of in it. A
    /// database in memory has nothing to wait for.
    ///
    /// - Throws: `DatabaseError` when the disk does not confirm. What was committed stays so and can be read; whether it
    ///   outlives a power cut is not known.
    package func makeDurable() throws { try sync(SQLITE_FCNTL_JOURNAL_POINTER) }

    /// Waits until what was copied from the log into the file is on the disk for good.
    ///
    /// SQLite does it only in a copy that reached the log's end, which beside a busy writer is the writer's own.
    ///
    /// - Throws: `DatabaseError` when the disk does not confirm. Nothing is lost by that: the log is still whole.
    package func makeCopiedDurable() throws { try sync(SQLITE_FCNTL_FILE_POINTER) }

    private func sync(_ which: Int32) throws {
        var file: UnsafeMutablePointer<sqlite3_file>?
        try check(sqlite3_file_control(sqliteConnection, "main", which, &file))
        // A log that nothing was written to, or no log.
        guard let file, let sync = file.pointee.pMethods?.pointee.xSync else { return }
        try check(sync(file, SQLITE_SYNC_FULL))
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
