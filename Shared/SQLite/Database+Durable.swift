package import GRDB
import GRDBSQLite

extension Database {
    /// Waits until everything that was committed on this connection is durable on disk.
    ///
    ///     PRAGMA synchronous = NORMAL
    ///     try db.inTransaction { …; return .commit }    // others see it from here on
    ///     try db.makeDurable()                          // a power cut loses nothing from here on
    ///
    /// Syncs the disk like a commit with `synchronous = FULL`, but after the commit instead of in it. A database in
    /// memory has nothing to wait for.
    ///
    /// - Throws: `DatabaseError` when the disk does not confirm. Committed changes stay and can be read; whether they
    ///   survive a power cut is unknown.
    package func makeDurable() throws { try sync(SQLITE_FCNTL_JOURNAL_POINTER) }

    /// Waits until everything that was copied from the log into the file is durable on disk.
    ///
    /// SQLite does it only in a copy that reaches the log's end. Beside a busy writer that is the writer's own copy.
    ///
    /// - Throws: `DatabaseError` when the disk does not confirm. Nothing is lost by that: the log is still whole.
    package func makeCopiedDurable() throws { try sync(SQLITE_FCNTL_FILE_POINTER) }

    private func sync(_ which: Int32) throws {
        var file: UnsafeMutablePointer<sqlite3_file>?
        try check(sqlite3_file_control(sqliteConnection, "main", which, &file))
        // Nothing was written to the log, or there is none.
        guard let file, let sync = file.pointee.pMethods?.pointee.xSync else { return }
        try check(sync(file, SQLITE_SYNC_FULL))
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
