import GRDB
import TidemarkLock
import TidemarkSQLite

extension LocalDatabase {
    /// Empties the write-ahead log, which otherwise keeps the data of a withdrawn scope for long. Deleted rows are
    /// overwritten in the file, and can still be read in older pages of the log.
    ///
    /// If a reader uses an older state, or the disk is full, this has to wait: it is tried again with the next frame,
    /// and at the next opening.
    ///
    /// - Parameter isNeeded: true when a scope was withdrawn just now, or before the process died.
    func cutLog(isNeeded: Bool) {
        if isNeeded { logHoldsWithdrawn.set(true) }
        guard path != nil, logHoldsWithdrawn.current else { return }
        // A log that cannot be emptied now is emptied later.
        let isCut = try? writer.writeWithoutTransaction { db in
            // All writers wait while this waits for readers: long once, and hardly after that.
            try db.execute(sql: "PRAGMA busy_timeout = \(isNeeded ? Self.firstWaitMax : Self.nextWaitMax)")
            // A timeout that was set before can be set again.
            defer { try? db.execute(sql: "PRAGMA busy_timeout = \(limits.busyTimeout)") }
            checkpointer?.settle()
            try db.checkpoint(.truncate)
            try Meta.withdrawn.set(0, db)
            return true
        }
        if isCut == true { logHoldsWithdrawn.set(false) }
    }

    /// In milliseconds.
    private static var firstWaitMax: Int { 1_000 }
    private static var nextWaitMax: Int { 20 }
}
