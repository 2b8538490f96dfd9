/// The statements of the conflict ledger; all but reading run only for batches that overwrote something unseen.
enum LedgerSQL {
    static let columns =
        "collection, id, scope, seq, field, rule, old, new, old_author, author, client, app, time"

    static let insert = """
        INSERT INTO sync_ledger (workspace, \(columns), octets)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// The oldest writes of a record beyond ?4 entries or ?5 bytes; the newest always stays.
    static let trim = """
        DELETE FROM sync_ledger
        WHERE workspace = ?1 AND collection = ?2 AND id = ?3 AND seq <= (
            SELECT max(seq)
            FROM (
                SELECT seq, row_number() OVER newest AS count, sum(octets) OVER newest AS bytes,
                    first_value(seq) OVER newest AS top
                FROM sync_ledger
                WHERE workspace = ?1 AND collection = ?2 AND id = ?3
                WINDOW newest AS (ORDER BY seq DESC, field)
            )
            WHERE seq < top AND (count > ?4 OR bytes > ?5)
        )
        """

    /// At most ?3 entries of a workspace from before ?2.
    static let dropOld = """
        DELETE FROM sync_ledger
        WHERE rowid IN (SELECT rowid FROM sync_ledger WHERE workspace = ?1 AND time < ?2 ORDER BY time LIMIT ?3)
        """

    static let values = "SELECT old, new FROM sync_ledger WHERE workspace = ? AND collection = ? AND id = ?"

    static let history = """
        SELECT \(columns)
        FROM sync_ledger
        WHERE workspace = ? AND collection = ? AND id = ? AND scope = ? AND seq < ?
        ORDER BY seq DESC, field
        """
}
