import TidemarkPostgres

/// The statements of compaction, beside those of its steps: see ``RowSQL``.
enum CompactionSQL {
    static let horizon = PreparedStatement(
        name: "sync_horizon",
        sql: """
            SELECT horizon
            FROM sync_workspace
            WHERE workspace = $1
            """)

    static let keep = PreparedStatement(
        name: "sync_keep",
        sql: """
            SELECT keep
            FROM sync_workspace
            WHERE workspace = $1
            """)

    static let setKeep = PreparedStatement(
        name: "sync_set_keep",
        sql: """
            UPDATE sync_workspace
            SET keep = $2
            WHERE workspace = $1
            """)

    /// The newest turn of any workspace, and this database server's own clock.
    static let newestTurn = PreparedStatement(
        name: "sync_newest_turn",
        sql: """
            SELECT coalesce(max(compacted), 0), (extract(epoch FROM clock_timestamp()) * 1000)::bigint
            FROM sync_workspace
            """)

    /// One descent for each workspace.
    static let oldestBatch = PreparedStatement(
        name: "sync_oldest_batch",
        sql: """
            SELECT min(b.time)
            FROM sync_workspace w
            CROSS JOIN LATERAL (
                SELECT time
                FROM sync_batch
                WHERE workspace = w.workspace
                ORDER BY seq
                LIMIT 1
            ) b
            """)

    /// The workspaces that are due, over all workspaces.
    static let due = PreparedStatement(
        name: "sync_compaction_due",
        sql: """
            SELECT workspace, keep
            FROM sync_workspace
            WHERE compacted < $1
            ORDER BY compacted, workspace
            LIMIT $2
            """)

    static let begin = PreparedStatement(
        name: "sync_begin_compaction",
        sql: """
            UPDATE sync_workspace
            SET compacted = $3
            WHERE workspace = $1 AND compacted < $2
            """)

    /// Raises the horizon only to an existing batch: the database may have gone back since the batch was found.
    static let raise = PreparedStatement(
        name: "sync_raise_horizon",
        sql: """
            UPDATE sync_workspace
            SET horizon = $2
            WHERE workspace = $1 AND horizon < $2
            AND EXISTS (SELECT 1 FROM sync_batch WHERE workspace = $1 AND seq = $2 AND nonce = $3)
            """)

    static let plan = PreparedStatement(
        name: "sync_compaction_plan",
        sql: """
            SELECT
                (SELECT count(*) FROM sync_record WHERE workspace = $1 AND deleted AND seq <= $2),
                (SELECT count(*) FROM sync_batch WHERE workspace = $1 AND seq < $2)
            """)

    static let clients = PreparedStatement(
        name: "sync_all_clients",
        sql: """
            SELECT c.workspace, c.client, c.user_id, greatest(c.seen, c.registered), w.keep, c.settled > c.acked
            FROM (
                SELECT *
                FROM sync_client
                WHERE (client, workspace) > ($2, $1)
                ORDER BY client, workspace
                LIMIT $3
            ) c
            LEFT JOIN sync_workspace w ON w.workspace = c.workspace
            ORDER BY c.client, c.workspace
            """)
}
