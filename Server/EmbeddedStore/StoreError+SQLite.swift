import GRDB
import TidemarkStore

extension StoreError {
    /// Translates what SQLite says. Its message names tables and columns, never values.
    init(sqlite error: any Error) {
        if let error = error as? StoreError {
            self = error
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.unavailable, "the database file did not answer: \(error)")
            return
        }
        let message = error.message ?? "no message"
        switch error.resultCode {
        case .SQLITE_TOOBIG:
            self.init(.data, message)
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH:
            // No batch of ours breaks what our tables want: somebody has changed them, and every write fails alike.
            self.init(
                .unavailable,
                "the tables in the database file want what this version does not write: undo what was changed (\(message))"
            )
        case .SQLITE_FULL:
            self.init(.unavailable, "the disk or the file's limit is full: free some space (\(message))", fault: .full)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.unavailable, "another program holds the database file locked: close it (\(message))")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            self.init(
                .unavailable,
                "the database file is damaged or no database: restore a backup, or move it away to begin (\(message))",
                fault: .broken)
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
            self.init(
                .unavailable,
                "the database file cannot be written: check owner and mode of the file and its folder (\(message))",
                fault: .readOnly)
        case .SQLITE_IOERR:
            self.init(.unavailable, "the disk failed: check it before going on (\(message))", fault: .broken)
        default:
            self.init(
                .unavailable, "the database file did not answer, it may be closed: \(error.resultCode), \(message)")
        }
    }
}
