import TidemarkPostgres

/// The statements of the conflict ledger; the writing ones run only for batches that overwrote something unseen.
enum LedgerSQL {
    private static let columns =
        "collection, id, scope, seq, field, rule, old, new, old_author, author, client, app, time"

    static let insert = PreparedStatement(
        name: "sync_insert_ledger",
        sql: """
            INSERT INTO sync_ledger (workspace, \(columns), octets)
            SELECT w.workspace, u.collection, u.id, u.scope, u.seq, u.field, u.rule, u.old::json, u.new::json,
                u.old_author, u.author, u.client, u.app, u.time, u.octets
            FROM sync_workspace w, unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
                AS u (collection, id, scope, seq, field, rule, old, new, old_author, author, client, app, time, octets)
            WHERE w.workspace = $1
            """)

    /// Deletes the oldest writes of one record beyond $4 entries or $5 bytes; the newest always stays.
    static let trim = PreparedStatement(
        name: "sync_trim_ledger",
        sql: """
            DELETE FROM sync_ledger
            WHERE workspace = $1 AND collection = $2 AND id = $3 AND seq <= (
                SELECT max(seq)
                FROM (
                    SELECT seq, row_number() OVER newest AS count, sum(octets) OVER newest AS bytes,
                        first_value(seq) OVER newest AS top
                    FROM sync_ledger
                    WHERE workspace = $1 AND collection = $2 AND id = $3
                    WINDOW newest AS (ORDER BY seq DESC, field)
                ) e
                WHERE seq < top AND (count > $4 OR bytes > $5)
            )
            """)

    static let history = PreparedStatement(
        name: "sync_history",
        sql: """
            SELECT \(columns)
            FROM sync_ledger
            WHERE workspace = $1 AND collection = $2 AND id = $3 AND scope = $4 AND seq < $5
            ORDER BY seq DESC, field
            """)

    /// The oldest entries over all workspaces, by the index of times.
    static let old = PreparedStatement(
        name: "sync_old_ledger",
        sql: """
            SELECT workspace, time
            FROM sync_ledger
            WHERE time < $1
            ORDER BY time
            LIMIT $2
            """)

    static let drop = PreparedStatement(
        name: "sync_drop_ledger",
        sql: """
            DELETE FROM sync_ledger
            WHERE workspace = $1 AND time <= $2
            """)
}
