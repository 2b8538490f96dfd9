import GRDB
import TidemarkModel

/// Single facts about the database, one row each.
enum Meta: String {
    case format
    case account
    case client
    /// 1 once the server has welcomed the client id.
    case registered
    /// Counts connections.
    case connection
    case cursor
    /// Scopes of the user that the last welcome left out; absent where it left out none.
    case scopesLeftOut = "scopes_left_out"
    /// Server time up to which the copy is known to be complete.
    case synced
    case epoch
    /// Results up to this number are durably known here. Entries of the outbox up to it are the journal.
    case ackedThrough = "acked_through"
    /// Bytes of the journal's bodies.
    case journalBytes = "journal_bytes"
    /// What was written up to here was written before the server's database went back the last time.
    case rewoundWritten = "rewound_written"
    /// The number of the first past cursor that was noted after something was settled under this client id.
    case registeredPast = "registered_past"
    /// The same of the client id before, and the first place in the order of writing whose entries were settled under it.
    case formerPast = "former_past"
    case formerWritten = "former_written"
    /// The server went back to this number of the client's, and the journal does not reach it: the next client id offers all
    /// that stands above.
    case lostAbove = "lost_above"
    /// The last number given to a transaction, when both counts were noted last; see `OutboxCounts`.
    case lastNumber = "last_number"
    /// Counts transactions in the order in which they were written.
    case lastWritten = "last_written"
    /// 1 while transactions may be withheld.
    case withholding
    /// The ids of withheld transactions that got as many answers of failure as there are attempts, a line each: they are sent
    /// again only when the app asks.
    case answeredFailures = "answered_failures"
    /// 1 while all that is withheld is to be sent again as soon as the server has had its word on what is withdrawn; 2 while
    /// the same is wanted without the answered failures and what is behind them.
    case releaseWanted = "release_wanted"
    /// 1 while the log may hold what was withdrawn with a scope.
    case withdrawn
    /// 1 while unused bytes of pages may hold what was withdrawn with a scope: SQLite leaves them when it moves rows.
    case unwiped
    /// The highest number of a deletion that `tidemark_deletion` has forgotten.
    case deletionsThrough = "deletions_through"
    /// When the last comparison with the server began, by the device's clock.
    case compared
    /// Records that the present comparison has gone through.
    case comparedRecords = "compared_records"
    /// Records that comparisons found to be another than the server's, so far.
    case differences
    /// 1 while the comparison stands in for filling: the copy came back from below the horizon.
    case behind
    /// Records that were evicted so far.
    case evicted
    /// What the server said last that a write may hold.
    case recordBytes = "record_bytes"
    case transactionBytes = "transaction_bytes"
    case mutations
    /// The installation that the file belongs to.
    case install
    /// What was saved when the file before this one was damaged, as JSON.
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
