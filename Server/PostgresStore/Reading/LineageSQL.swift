import TidemarkPostgres

/// The statements on the beginnings of an order's epochs.
enum LineageSQL {
    /// base holds the bits of an unsigned number.
    static let tables =
        [
            """
            CREATE TABLE sync_lineage (
                workspace text COLLATE "C" NOT NULL,
                epoch bigint NOT NULL,
                first bigint NOT NULL,
                base bigint NOT NULL,
                time bigint NOT NULL,
                reason text NOT NULL,
                lost bigint NOT NULL
            )
            """
        ] + PostgresSchema.keyed("sync_lineage", "workspace, epoch")

    /// Runs under the workspace's lock, right behind the read: it needs no guard.
    static let insertBatch = PreparedStatement(
        name: "sync_insert_epoch_batch",
        sql: """
            INSERT INTO sync_batch (workspace, seq, low, nonce, time, epoch, body)
            SELECT w.workspace, $2, $2, $3, $4, $5, $6
            FROM sync_workspace w
            WHERE w.workspace = $1
            """)

    static let insert = PreparedStatement(
        name: "sync_insert_lineage",
        sql: """
            INSERT INTO sync_lineage (workspace, epoch, first, base, time, reason, lost)
            SELECT w.workspace, $2, $3, $4, $5, $6, $7
            FROM sync_workspace w
            WHERE w.workspace = $1
            """)

    static let list = PreparedStatement(
        name: "sync_lineage",
        sql: """
            SELECT epoch, first, base, time, reason, lost
            FROM sync_lineage
            WHERE workspace = $1
            ORDER BY epoch DESC
            LIMIT $2
            """)
}
