import GRDB
import TidemarkModel

/// Single values about the database, one row each.
enum Meta: String {
    case format
    case account
    case client
    /// 1 once the server has welcomed the client id.
    case registered
    /// The count of connections.
    case connection
    case cursor
    /// The number of the user's scopes that the last welcome left out; absent if it left out none.
    case scopesLeftOut = "scopes_left_out"
    /// The server time up to which the copy is known to be complete.
    case synced
    case epoch
    /// The number up to which results are durably known here. Entries of the outbox up to it are the journal.
    case ackedThrough = "acked_through"
    /// The size of the journal's bodies in bytes.
    case journalBytes = "journal_bytes"
    /// The order of writing up to which transactions were written before the server's database last went back.
    case rewoundWritten = "rewound_written"
    /// The number of the first past cursor that was noted after something was settled under this client id.
    case registeredPast = "registered_past"
    /// The same number for the former client id, and the first index in the order of writing that was settled under it.
    case formerPast = "former_past"
    case formerWritten = "former_written"
    /// The number of the client's to which the server went back, if the journal does not reach it: the next client id
    /// offers everything above.
    case lostAbove = "lost_above"
    /// The last number given to a transaction, when both counts were last stored; see `OutboxCounts`.
    case lastNumber = "last_number"
    /// The count of transactions in the order in which they were written.
    case lastWritten = "last_written"
    /// 1 while transactions may be withheld.
    case withholding
    /// The ids of withheld transactions whose every attempt was answered with a failure, one a line: they are sent
    /// again only when the app asks.
    case answeredFailures = "answered_failures"
    /// 1 while everything withheld is to be sent again as soon as the server has answered the withdrawn transactions. 2
    /// while the same is requested without the answered failures and those behind them.
    case releaseWanted = "release_wanted"
    /// 1 while the log may contain data that was withdrawn with a scope.
    case withdrawn
    /// 1 while unused bytes of pages may hold what was withdrawn with a scope: SQLite leaves them when it moves rows.
    case unwiped
    /// The highest number of a deletion that `tidemark_deletion` has forgotten.
    case deletionsThrough = "deletions_through"
    /// The device's time at which the last comparison with the server began.
    case compared
    /// The number of records that the present comparison has checked.
    case comparedRecords = "compared_records"
    /// The number of records so far that comparisons found to differ from the server's.
    case differences
    /// 1 while the comparison replaces filling: the copy came back from below the horizon.
    case behind
    /// The number of records that were evicted so far.
    case evicted
    /// The limits of a write that the server sent last.
    case recordBytes = "record_bytes"
    case transactionBytes = "transaction_bytes"
    case mutations
    /// The installation that the file belongs to.
    case install
    /// The report on what was saved when the former file was damaged, as JSON.
    case recovery
    /// The version of the app's schema that shaped the tables.
    case schemaVersion = "schema_version"

    func text(_ db: Database) throws -> String? {
        try db.first(Self.selectSQL, [rawValue])?.optionalText(0)
    }

    func integer(_ db: Database) throws -> Int64? {
        try db.first(Self.selectSQL, [rawValue])?.optionalInteger(0)
    }

    func set(_ value: some DatabaseValueConvertible, _ db: Database) throws {
        try db.run(
            """
            INSERT INTO tidemark_meta (key, value) VALUES (?, ?)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value
            """, [rawValue, value.databaseValue])
    }

    private static let selectSQL = "SELECT value FROM tidemark_meta WHERE key = ?"
}
