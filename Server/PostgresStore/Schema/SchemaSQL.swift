import TidemarkPostgres

/// The statements on schemas of apps. They cover all workspaces: a schema is the whole database's.
enum SchemaSQL {
    /// min_app is an `AppRequirement`.
    static let tables = [
        """
        CREATE TABLE sync_schema (
            number bigint PRIMARY KEY,
            applied bigint NOT NULL,
            document text NOT NULL,
            min_app text NOT NULL,
            note text NOT NULL
        )
        """
    ]

    static let newest = PreparedStatement(
        name: "sync_schema_newest",
        sql: """
            SELECT number, applied, document, min_app, note
            FROM sync_schema
            WHERE number > $1
            ORDER BY number DESC
            LIMIT 1
            """)

    /// If two inserts run at once with the same number, one finds the other's row and has no effect.
    static let insert = PreparedStatement(
        name: "sync_schema_insert",
        sql: """
            INSERT INTO sync_schema (number, applied, document, min_app, note)
            SELECT $1, $2, $3, $4, $5
            WHERE $1 = 1 + (SELECT coalesce(max(number), 0) FROM sync_schema)
            ON CONFLICT DO NOTHING
            RETURNING number
            """)

    static let known = PreparedStatement(
        name: "sync_schema_known",
        sql: """
            SELECT number
            FROM sync_schema
            WHERE document = $1
            LIMIT 1
            """)

    static let apps = PreparedStatement(
        name: "sync_apps",
        sql: """
            SELECT app, count(*), max(greatest(seen, registered))
            FROM sync_client
            WHERE greatest(seen, registered) > $1
            GROUP BY app
            ORDER BY count(*) DESC, app
            LIMIT $2
            """)

    /// Reads $4 records after a key, in the key's order. Returns the count of living records of each collection, then
    /// the count of values of each given field. The last row is the key at the end of the step.
    static let count = PreparedStatement(
        name: "sync_count_records",
        sql: """
            WITH step AS MATERIALIZED (
                SELECT id, collection, workspace, deleted, body
                FROM sync_record
                WHERE (id, collection, workspace) > ($1, $2, $3)
                ORDER BY id, collection, workspace
                LIMIT $4
            )
            SELECT 0::bigint, collection, NULL::text, count(*), NULL::uuid
            FROM step
            WHERE NOT deleted
            GROUP BY collection
            UNION ALL
            SELECT 1, asked.collection, asked.field, count(*), NULL
            FROM unnest($5, $6) AS asked (collection, field)
            JOIN step s ON s.collection = asked.collection
            WHERE NOT s.deleted AND (s.body ->> asked.field) IS NOT NULL
            GROUP BY asked.collection, asked.field
            UNION ALL
            (
                SELECT 2, collection, workspace, (SELECT count(*) FROM step), id
                FROM step
                ORDER BY id DESC, collection DESC, workspace DESC
                LIMIT 1
            )
            """)
}
