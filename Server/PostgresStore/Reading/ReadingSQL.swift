import TidemarkPostgres

/// The statements that read along a workspace's order, and those of registration.
enum ReadingSQL {
    /// An expression for the place of a scope of workspace $1 in the indexes, which other scopes may share: a search by
    /// it also compares scope and workspace.
    private static func place(_ scope: String) -> String {
        "hashtextextended(\(scope), (SELECT salt FROM sync_workspace WHERE workspace = $1))"
    }

    static let head = PreparedStatement(
        name: "sync_head",
        sql: """
            SELECT \(RowReader.headColumns)
            FROM sync_batch
            WHERE workspace = $1
            ORDER BY seq DESC
            LIMIT 1
            """)

    static let batchHolding = PreparedStatement(
        name: "sync_batch_holding",
        sql: """
            SELECT \(RowReader.headColumns)
            FROM sync_batch
            WHERE workspace = $1 AND seq >= $2
            ORDER BY seq
            LIMIT 1
            """)

    /// Three heads at once: that of the order, of the batch that holds $2, and of the one that holds $3.
    static let windowEnds = PreparedStatement(
        name: "sync_window_ends",
        sql: """
            (
                SELECT 0::smallint AS which, \(RowReader.headColumns)
                FROM sync_batch
                WHERE workspace = $1
                ORDER BY seq DESC
                LIMIT 1
            )
            UNION ALL (
                SELECT 1::smallint, \(RowReader.headColumns)
                FROM sync_batch
                WHERE workspace = $1 AND seq >= $2
                ORDER BY seq
                LIMIT 1
            )
            UNION ALL (
                SELECT 2::smallint, \(RowReader.headColumns)
                FROM sync_batch
                WHERE workspace = $1 AND seq >= $3
                ORDER BY seq
                LIMIT 1
            )
            """)

    static let batchBefore = PreparedStatement(
        name: "sync_batch_before",
        sql: """
            SELECT \(RowReader.headColumns)
            FROM sync_batch
            WHERE workspace = $1 AND seq < $2
            ORDER BY seq DESC
            LIMIT 1
            """)

    /// Batches from the one that holds $2 on. The body of a batch that ends there is not needed.
    static let tail = PreparedStatement(
        name: "sync_tail",
        sql: """
            SELECT \(RowReader.headColumns), low, CASE WHEN seq > $2 THEN body END AS body
            FROM sync_batch
            WHERE workspace = $1 AND seq >= $2
            ORDER BY seq
            LIMIT $3
            """)

    static let changedScopes = PreparedStatement(
        name: "sync_changed_scopes",
        sql: """
            SELECT x.scope
            FROM unnest($2) AS x (scope)
            CROSS JOIN LATERAL (
                SELECT
                FROM sync_record
                WHERE place = \(place("x.scope")) AND seq > $3 AND scope = x.scope AND workspace = $1
                ORDER BY seq
                LIMIT 1
            ) r
            """)

    /// Whether a row exceeds $6 bytes; the first never does (R-17). Computed here, since `octets` alone decides which
    /// rows are answered: a reader that counted the bodies could take a cut answer for a whole one.
    private static let isBeyond = "s.before + s.octets > $6 AND s.nth > 1 AS is_beyond"

    /// Rows after $3 and up to the batch that holds $4: at most $5, and no further than the first row that exceeds $6
    /// bytes. The very first row is always shown. One descent of the index for each scope, each ended at $5 rows.
    static let window = PreparedStatement(
        name: "sync_window",
        sql: """
            SELECT \(RowReader.recordColumns), \(isBeyond)
            FROM (
                SELECT f.*, sum(f.octets) OVER w - f.octets AS before, row_number() OVER w AS nth
                FROM (
                    SELECT r.*
                    FROM unnest($2) AS x (scope)
                    CROSS JOIN LATERAL (
                        SELECT *
                        FROM sync_record
                        WHERE place = \(place("x.scope")) AND seq > $3 AND scope = x.scope AND workspace = $1
                        AND seq <= coalesce(
                            (SELECT seq FROM sync_batch WHERE workspace = $1 AND seq >= $4 ORDER BY seq LIMIT 1),
                            9223372036854775807)
                        ORDER BY seq
                        LIMIT $5
                    ) r
                    ORDER BY r.seq
                    LIMIT $5
                ) f
                WINDOW w AS (ORDER BY f.seq)
            ) s
            WHERE s.before <= $6 OR s.nth = 2
            ORDER BY s.seq
            """)

    /// Living rows born before $4: at most $5, and no further than the first row that exceeds $6 bytes.
    static let page = PreparedStatement(
        name: "sync_page",
        sql: """
            SELECT \(RowReader.recordColumns), \(isBeyond)
            FROM (
                SELECT f.*, sum(f.octets) OVER w - f.octets AS before, row_number() OVER w AS nth
                FROM (
                    SELECT *
                    FROM sync_record
                    WHERE place = \(place("$2")) AND collection = $3 AND born < $4 AND NOT deleted
                    AND scope = $2 AND workspace = $1
                    ORDER BY born DESC
                    LIMIT $5
                ) f
                WINDOW w AS (ORDER BY f.born DESC)
            ) s
            WHERE s.before <= $6 OR s.nth = 2
            ORDER BY s.born DESC
            """)

    /// Living rows of scope $2 and collection $3 with the ids $4, in their order and with their positions among them.
    /// They end with the first row that exceeds $5 bytes.
    static let pageOfIDs = PreparedStatement(
        name: "sync_page_of_ids",
        sql: """
            SELECT \(RowReader.recordColumns), s.before + s.octets > $5 AND s.rank > 1 AS is_beyond, s.nth
            FROM (
                SELECT f.*, sum(f.octets) OVER w - f.octets AS before, row_number() OVER w AS rank
                FROM (
                    SELECT r.*, x.nth
                    FROM unnest($4) WITH ORDINALITY AS x (id, nth)
                    CROSS JOIN LATERAL (
                        SELECT *
                        FROM sync_record
                        WHERE workspace = $1 AND collection = $3 AND id = x.id AND scope = $2 AND NOT deleted
                        LIMIT 1
                    ) r
                ) f
                WINDOW w AS (ORDER BY f.nth)
            ) s
            WHERE s.before <= $5 OR s.rank = 2
            ORDER BY s.nth
            """)

    static let client = PreparedStatement(
        name: "sync_client",
        sql: """
            SELECT \(RowReader.storedClientColumns)
            FROM sync_client
            WHERE workspace = $1 AND client = $2
            """)

    static let grants = PreparedStatement(
        name: "sync_grants",
        sql: """
            SELECT \(RowReader.grantColumns)
            FROM sync_member
            WHERE workspace = $1 AND user_id = $2
            ORDER BY since DESC, scope
            """)

    /// Has no effect if the client exists, or if the user has $5 clients or is being erased.
    static let insertClient = PreparedStatement(
        name: "sync_insert_client",
        sql: """
            INSERT INTO sync_client (workspace, client, user_id, settled, acked, connection, registered)
            SELECT w.workspace, $2, $3, 0, 0, 0, $4
            FROM sync_workspace w
            WHERE w.workspace = $1
            AND (SELECT count(*) FROM sync_client WHERE workspace = $1 AND user_id = $3) < $5
            AND NOT EXISTS (SELECT 1 FROM sync_erasure WHERE workspace = $1 AND kind = 'user' AND name = $3)
            ON CONFLICT DO NOTHING
            """)

    /// At most $3 clients, those first that would be missed least.
    static let clientsOfUser = PreparedStatement(
        name: "sync_clients_of_user",
        sql: """
            SELECT client, settled, registered, seen
            FROM sync_client
            WHERE workspace = $1 AND user_id = $2
            ORDER BY settled > 0, settled > acked, greatest(seen, registered), client
            LIMIT $3
            """)

    static let sawClients = PreparedStatement(
        name: "sync_saw_clients",
        sql: """
            UPDATE sync_client c
            SET seen = u.seen, app = coalesce(u.app, c.app), written = coalesce(u.written, c.written),
                position = coalesce(u.position, c.position)
            FROM unnest($2, $3, $4, $5, $6) AS u (client, seen, app, written, position)
            WHERE c.workspace = $1 AND c.client = u.client
            RETURNING c.client
            """)

    static let renewListener = PreparedStatement(
        name: "sync_renew_listener",
        sql: """
            INSERT INTO sync_listener (workspace, node, seen)
            SELECT w.workspace, $2, $3
            FROM sync_workspace w
            WHERE w.workspace = $1
            ON CONFLICT (workspace, node) DO UPDATE
            SET seen = EXCLUDED.seen
            """)

    static let dropLapsedListeners = PreparedStatement(
        name: "sync_drop_lapsed_listeners",
        sql: """
            DELETE FROM sync_listener
            WHERE workspace = $1 AND seen <= $2
            """)

    static let dropListener = PreparedStatement(
        name: "sync_drop_listener",
        sql: """
            DELETE FROM sync_listener
            WHERE workspace = $1 AND node = $2
            """)
}
