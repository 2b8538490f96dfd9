import TidemarkPostgres

/// The statements of the steps of compaction and erasure.
enum RowSQL {
    /// The hash of scope $2.
    static let place = "hashtextextended($2, (SELECT salt FROM sync_workspace WHERE workspace = $1))"

    private static let columns = "collection, id, scope, deleted"

    /// Never waits for a row that another transaction writes: such a row is left for later.
    static let dropBatches = PreparedStatement(
        name: "sync_drop_batches",
        sql: """
            DELETE FROM sync_batch b
            USING (
                SELECT seq
                FROM sync_batch
                WHERE workspace = $1 AND seq < $2
                ORDER BY seq
                LIMIT $3
                FOR UPDATE SKIP LOCKED
            ) f
            WHERE b.workspace = $1 AND b.seq = f.seq
            """)

    /// Finds tombstones of collections other than those in $3, and locks them. It does not wait either.
    static let tombstones = PreparedStatement(
        name: "sync_tombstones",
        sql: """
            SELECT \(columns)
            FROM sync_record
            WHERE workspace = $1 AND deleted AND seq <= $2 AND collection <> ALL ($3)
            ORDER BY seq
            LIMIT $4
            FOR UPDATE SKIP LOCKED
            """)

    /// Finds tombstones of the collections in $3, which open scopes, unless another of them has a living record of that
    /// id, and locks them.
    static let graves = PreparedStatement(
        name: "sync_graves",
        sql: """
            SELECT \(columns)
            FROM sync_record r
            WHERE workspace = $1 AND deleted AND seq <= $2 AND collection = ANY ($3)
            AND NOT EXISTS (
                SELECT 1 FROM sync_record o
                WHERE o.workspace = $1 AND o.id = r.id AND o.collection = ANY ($3) AND NOT o.deleted
            )
            ORDER BY seq
            LIMIT $4
            FOR UPDATE OF r SKIP LOCKED
            """)

    /// Finds records of scope $2, and locks them: it waits for their writers, since none may be missing.
    static let records = PreparedStatement(
        name: "sync_records_of_scope",
        sql: """
            SELECT \(columns)
            FROM sync_record
            WHERE place = \(place) AND seq > 0 AND scope = $2 AND workspace = $1
            ORDER BY seq
            LIMIT $3
            FOR UPDATE
            """)

    /// Deletes the records $2, $3 and their ledgers.
    static let forget = PreparedStatement(
        name: "sync_forget",
        sql: """
            WITH found AS MATERIALIZED (
                SELECT r.ctid, x.collection, x.id
                FROM unnest($2, $3) AS x (collection, id)
                CROSS JOIN LATERAL (
                    SELECT ctid
                    FROM sync_record
                    WHERE workspace = $1 AND id = x.id AND collection = x.collection
                    OFFSET 0
                ) r
            ), ledger AS (
                DELETE FROM sync_ledger
                WHERE workspace = $1 AND ctid = ANY (ARRAY(
                    SELECT l.ctid
                    FROM found f
                    CROSS JOIN LATERAL (
                        SELECT ctid
                        FROM sync_ledger
                        WHERE workspace = $1 AND collection = f.collection AND id = f.id
                        OFFSET 0
                    ) l
                ))
                RETURNING 1
            ), gone AS (
                DELETE FROM sync_record
                WHERE workspace = $1 AND ctid = ANY (ARRAY(SELECT ctid FROM found))
                RETURNING 1
            )
            SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM ledger)
            """)

    static let dropLedgers = PreparedStatement(
        name: "sync_drop_ledger_of",
        sql: "DELETE FROM sync_ledger WHERE workspace = $1 AND collection = $2 AND id = $3")

    /// Deletes the marks of scopes whose tombstones are behind the horizon as well.
    static let dropMarks = PreparedStatement(
        name: "sync_drop_marks",
        sql: """
            DELETE FROM sync_erasure
            WHERE workspace = $1 AND kind = 'scope' AND ended IS NOT NULL AND through <= $2
            """)
}
