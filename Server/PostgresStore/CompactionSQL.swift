import TidemarkPostgres

/// The statements that forget the rows behind a workspace's horizon.
///
/// Deletions read the stored horizon, and never wait for a row that another transaction writes: such a row is left for
/// later.
enum CompactionSQL {
    private static let stored = "(SELECT horizon FROM sync_workspace WHERE workspace = $1)"

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

    /// Deletes tombstones of collections other than those in $2.
    static let dropTombstones = PreparedStatement(
        name: "sync_drop_tombstones",
        sql: drop(
            """
            SELECT id, collection
            FROM sync_record
            WHERE workspace = $1 AND deleted AND seq <= \(stored) AND collection <> ALL ($2)
            ORDER BY seq
            LIMIT $3
            FOR UPDATE SKIP LOCKED
            """))

    /// The tombstones of the collections in $2, which open scopes, unless another of them has a living record of that
    /// id.
    static let graves = PreparedStatement(
        name: "sync_graves",
        sql: """
            SELECT r.collection, r.id
            FROM sync_record r
            WHERE r.workspace = $1 AND r.deleted AND r.seq <= \(stored) AND r.collection = ANY ($2)
            AND NOT EXISTS (
                SELECT 1 FROM sync_record o
                WHERE o.workspace = $1 AND o.id = r.id AND o.collection = ANY ($2) AND NOT o.deleted
            )
            ORDER BY r.seq
            LIMIT $3
            """)

    /// Deletes records of scope $2 while its own record, $3 and $4, is a tombstone behind the horizon.
    static let dropOfScope = PreparedStatement(
        name: "sync_drop_of_scope",
        sql: drop(
            """
            SELECT id, collection
            FROM sync_record
            WHERE place = hashtextextended($2, (SELECT salt FROM sync_workspace WHERE workspace = $1))
            AND scope = $2 AND workspace = $1 AND seq > 0 AND NOT (collection = $3 AND id = $4)
            AND EXISTS (
                SELECT 1 FROM sync_record
                WHERE workspace = $1 AND collection = $3 AND id = $4 AND deleted AND seq <= \(stored)
            )
            ORDER BY seq
            LIMIT $5
            FOR UPDATE SKIP LOCKED
            """))

    /// Deletes the scope's own tombstone, once it is the last.
    static let dropGrave = PreparedStatement(
        name: "sync_drop_grave",
        sql: drop(
            """
            SELECT id, collection
            FROM sync_record r
            WHERE r.workspace = $1 AND r.collection = $3 AND r.id = $4 AND r.deleted AND r.seq <= \(stored)
            AND NOT EXISTS (
                SELECT 1 FROM sync_record o
                WHERE o.place = r.place AND o.seq > 0 AND o.scope = $2 AND o.workspace = $1
                AND NOT (o.collection = $3 AND o.id = $4)
            )
            LIMIT 1
            FOR UPDATE SKIP LOCKED
            """))

    /// Deletes the records that a search finds, and their ledgers. The search locks its rows, so that no row changes
    /// between the search and the deletion.
    private static func drop(_ search: String) -> String {
        """
        WITH found AS MATERIALIZED (
            \(search)
        ), ledger AS (
            DELETE FROM sync_ledger l
            USING found f
            WHERE l.workspace = $1 AND l.collection = f.collection AND l.id = f.id
        )
        DELETE FROM sync_record r
        USING found f
        WHERE r.workspace = $1 AND r.collection = f.collection AND r.id = f.id
        """
    }

    static let dropBatches = PreparedStatement(
        name: "sync_drop_batches",
        sql: """
            DELETE FROM sync_batch b
            USING (
                SELECT seq
                FROM sync_batch
                WHERE workspace = $1 AND seq < \(stored)
                ORDER BY seq
                LIMIT $2
                FOR UPDATE SKIP LOCKED
            ) f
            WHERE b.workspace = $1 AND b.seq = f.seq
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
