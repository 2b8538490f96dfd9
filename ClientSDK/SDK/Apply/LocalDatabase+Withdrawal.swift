import GRDB
import TidemarkLock
import TidemarkSQLite

extension LocalDatabase {
    /// Empties the write-ahead log, which else holds for long what was withdrawn with a scope: rows that are deleted are
    /// overwritten in the file, and are still to be read in older pages of the log.
    ///
    /// While somebody reads an older state, or without room, that has to wait: it is tried again with the next frame, and at
    /// the next opening.
    ///
    /// - Parameter isNeeded: a scope was withdrawn just now, or before the process died.
    func cutLog(isNeeded: Bool) {
        if isNeeded { logHoldsWithdrawn.set(true) }
        guard path != nil, logHoldsWithdrawn.current else { return }
        // What cannot be cut now is cut later.
        let isCut = try? writer.writeWithoutTransaction { db in
            // Everybody who writes waits for this: for readers once, and hardly after that.
            try db.execute(sql: "PRAGMA busy_timeout = \(isNeeded ? Self.firstWaitMax : Self.nextWaitMax)")
            // One that was set before can be set again.
            defer { try? db.execute(sql: "PRAGMA busy_timeout = \(limits.busyTimeout)") }
            checkpointer?.settle()
            try db.checkpoint(.truncate)
            try Meta.withdrawn.set(0, db)
            return true
        }
        if isCut == true { logHoldsWithdrawn.set(false) }
    }

    /// Milliseconds.
    private static var firstWaitMax: Int { 1_000 }
    private static var nextWaitMax: Int { 20 }
}
