import TidemarkPostgres
import TidemarkStore

/// The statements that delete blobs which no record names.
enum BlobCompactionSQL {
    /// The blobs that are due, with their scopes.
    static let due = PreparedStatement(
        name: "sync_due_blobs",
        sql: """
            SELECT b.digest, b.created, b.octets, s.scope
            FROM (
                SELECT *
                FROM (
                    (\(some("created > 0 AND created < $2")))
                    UNION ALL
                    (\(some("created < 0 AND created > $3")))
                    UNION ALL
                    (\(some("created < \(BlobStage.withdrawnBound) AND created > $4")))
                ) x
                LIMIT $5
            ) b
            LEFT JOIN LATERAL (
                SELECT scope
                FROM sync_blob_scope
                WHERE workspace = $1 AND digest = b.digest
                LIMIT $5
            ) s ON true
            LIMIT $5
            """)

    private static func some(_ condition: String) -> String {
        """
        SELECT digest, created, octets
        FROM sync_blob
        WHERE workspace = $1 AND created <> 0 AND \(condition)
        ORDER BY created
        LIMIT $5
        """
    }

    /// Moves the blobs of $2 whose stage is still the one in $3. They are locked before.
    static let move = PreparedStatement(
        name: "sync_move_blobs",
        sql: """
            UPDATE sync_blob
            SET created = $4
            WHERE workspace = $1 AND ctid = ANY (ARRAY(\(found)))
            """)

    private static let found = """
        SELECT b.ctid
        FROM unnest($2, $3) AS x (digest, created)
        CROSS JOIN LATERAL (
            SELECT ctid
            FROM sync_blob
            WHERE workspace = $1 AND digest = x.digest AND created = x.created
            LIMIT 1
        ) b
        """

    /// Deletes the blobs of $2 whose stage is still the one in $3, with their parts and scopes, and corrects the usage.
    /// They are locked before.
    static let take = PreparedStatement(
        name: "sync_take_blobs",
        sql: """
            WITH gone AS (
                DELETE FROM sync_blob
                WHERE workspace = $1 AND ctid = ANY (ARRAY(\(found)))
                RETURNING digest, octets
            ), parts AS (
                DELETE FROM sync_blob_part
                WHERE workspace = $1 AND ctid = ANY (ARRAY(
                    SELECT p.ctid
                    FROM gone g
                    CROSS JOIN LATERAL (
                        SELECT ctid
                        FROM sync_blob_part
                        WHERE workspace = $1 AND digest = g.digest
                        OFFSET 0
                    ) p
                ))
            ), scopes AS (
                DELETE FROM sync_blob_scope
                WHERE workspace = $1 AND ctid = ANY (ARRAY(
                    SELECT s.ctid
                    FROM gone g
                    CROSS JOIN LATERAL (
                        SELECT ctid
                        FROM sync_blob_scope
                        WHERE workspace = $1 AND digest = g.digest
                        OFFSET 0
                    ) s
                ))
            ), counted AS (
                UPDATE sync_blob_usage
                SET blobs = blobs - (SELECT count(*) FROM gone),
                    octets = octets - (SELECT coalesce(sum(octets), 0) FROM gone)
                WHERE workspace = $1
            )
            SELECT count(*), coalesce(sum(octets), 0)::bigint FROM gone
            """)

    /// Records of scope $2 after number $3 with their overwritten values, at most $4 records and $5 bytes. The flag is
    /// true for the scope's last record.
    static let names = PreparedStatement(
        name: "sync_blob_names",
        sql: """
            SELECT s.seq, s.body, l.overwritten, s.isLast
            FROM (
                SELECT f.*, sum(f.size) OVER w - f.size AS before, count(*) OVER () < $4 AND lead(1) OVER w IS NULL AS isLast
                FROM (
                    SELECT r.*, r.octets + o.octets AS size
                    FROM (
                        SELECT seq, collection, id, octets, body
                        FROM sync_record
                        WHERE place = hashtextextended($2, (SELECT salt FROM sync_workspace WHERE workspace = $1))
                        AND seq > $3 AND scope = $2 AND workspace = $1
                        ORDER BY seq
                        LIMIT $4
                    ) r
                    CROSS JOIN LATERAL (
                        SELECT coalesce(sum(octets), 0)::bigint AS octets
                        FROM sync_ledger
                        WHERE workspace = $1 AND collection = r.collection AND id = r.id
                    ) o
                ) f
                WINDOW w AS (ORDER BY f.seq)
            ) s
            CROSS JOIN LATERAL (
                SELECT string_agg(concat_ws(' ', old::text, new::text), ' ') AS overwritten
                FROM sync_ledger
                WHERE workspace = $1 AND collection = s.collection AND id = s.id
            ) l
            WHERE s.before <= $5
            ORDER BY s.seq
            """)
}
