import GRDB
import TidemarkStore

extension StoreError {
    /// Translates SQLite's error. Its message names tables and columns, never values.
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
            // No batch of ours violates the constraints of our tables: someone has changed them, and every write fails
            // alike.
            self.init(
                .unavailable,
                "the database file's tables were changed and refuse this version's writes: undo the change (\(message))"
            )
        case .SQLITE_FULL:
            self.init(.unavailable, "the disk or the file's limit is full: free some space (\(message))", fault: .full)
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.unavailable, "another program holds the database file locked: close it (\(message))")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            self.init(
                .unavailable,
                "the database file is damaged or not a database: restore a backup, or move it away to start empty"
                    + " (\(message))",
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
