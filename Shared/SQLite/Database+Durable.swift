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
    package func makeDurable() throws {
        var file: UnsafeMutablePointer<sqlite3_file>?
        try check(sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file))
        // A log that nothing was written to, or no log.
        guard let file, let sync = file.pointee.pMethods?.pointee.xSync else { return }
        try check(sync(file, SQLITE_SYNC_FULL))
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
