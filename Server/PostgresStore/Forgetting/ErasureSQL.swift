import TidemarkPostgres

/// The table of erasures, and the statements on it.
enum ErasureSQL {
    /// The SQLSTATE with which a living record of an erased scope is refused: see `StoreError`.
    static let state = "TM003"

    /// kind is `scope`, `user` or `workspace`; through is the end of the order when the mark was made; begun and ended
    /// are milliseconds; alias replaces a user.
    static let tables =
        [
            """
            CREATE TABLE sync_erasure (
                workspace text COLLATE "C" NOT NULL,
                kind text COLLATE "C" NOT NULL,
                name text COLLATE "C" NOT NULL,
                through bigint NOT NULL,
                begun bigint NOT NULL,
                ended bigint,
                alias text
            )
            """,
            // `GuardSQL` explains why it is declared immutable.
            """
            CREATE FUNCTION sync_refuse_erased(scope text) RETURNS text
            LANGUAGE plpgsql IMMUTABLE
            AS $$
            BEGIN
                RAISE EXCEPTION 'the scope of a record is erased' USING ERRCODE = '\(state)';
            END
            $$
            """,
        ] + PostgresSchema.keyed("sync_erasure", "workspace, kind, name") + [
            // Finds the other scopes of a blob.
            "CREATE INDEX sync_blob_scope_digest ON sync_blob_scope (workspace, digest, scope)"
        ]

    /// The records, or clients, of all workspaces that one step reads.
    static let walkedAtOnce: Int64 = 5_000

    /// An expression for the scope, which fails if the scope is erased. Its first condition is evaluated once a
    /// statement, and mostly decides for all rows.
    ///
    /// - Parameter isLiving: a condition on the row; tombstones may be written.
    static func passes(_ scope: String, isLiving: String) -> String {
        """
        CASE WHEN (SELECT count(*) FROM sync_erasure WHERE workspace = $1 AND kind IN ('scope', 'workspace')) > 0
            AND \(isLiving)
            AND EXISTS (
                SELECT 1 FROM sync_erasure e
                WHERE e.workspace = $1 AND (e.kind = 'workspace' OR e.kind = 'scope' AND e.name = \(scope))
            )
            THEN sync_refuse_erased(\(scope)) ELSE \(scope) END
        """
    }

    /// Fails for an erased scope, or one of an erased workspace. It takes a column: an immutable function of a known
    /// value would be evaluated when the plan is made.
    static let refuse = PreparedStatement(
        name: "sync_refuse_erased",
        sql: """
            SELECT sync_refuse_erased(name)
            FROM sync_erasure
            WHERE workspace = $1 AND (kind = 'workspace' OR kind = 'scope' AND name = $2)
            """)

    /// Waits for transactions that write records or put blobs.
    static let lock = PreparedStatement(
        name: "sync_erasure_lock",
        sql: """
            SELECT workspace
            FROM sync_workspace
            WHERE workspace = $1
            FOR UPDATE
            """)

    static let begin = PreparedStatement(
        name: "sync_begin_erasure",
        sql: """
            INSERT INTO sync_erasure (workspace, kind, name, through, begun)
            SELECT w.workspace, 'scope', $2, h.seq, $3
            FROM sync_workspace w
            CROSS JOIN LATERAL (SELECT seq FROM sync_batch WHERE workspace = $1 ORDER BY seq DESC LIMIT 1) h
            WHERE w.workspace = $1
            ON CONFLICT (workspace, kind, name) DO UPDATE
            SET through = EXCLUDED.through, ended = NULL
            RETURNING through
            """)

    static let end = PreparedStatement(
        name: "sync_end_erasure",
        sql: """
            UPDATE sync_erasure
            SET ended = $3,
                through = coalesce(
                    (SELECT seq FROM sync_batch WHERE workspace = $1 ORDER BY seq DESC LIMIT 1), through)
            WHERE workspace = $1 AND kind = 'scope' AND name = $2
            """)

    static let open = PreparedStatement(
        name: "sync_open_erasures",
        sql: """
            SELECT name
            FROM sync_erasure
            WHERE workspace = $1 AND kind = 'scope' AND ended IS NULL
            ORDER BY name
            """)

    /// In the order of the key, after a seat.
    static let members = PreparedStatement(
        name: "sync_erasure_members",
        sql: """
            SELECT user_id, scope
            FROM sync_member
            WHERE workspace = $1 AND (user_id, scope) > ($2, $3)
            ORDER BY user_id, scope
            LIMIT $4
            """)

    static let dropBodies = PreparedStatement(
        name: "sync_erase_bodies",
        sql: """
            UPDATE sync_batch
            SET body = NULL
            WHERE workspace = $1 AND ctid = ANY (ARRAY(
                SELECT ctid
                FROM sync_batch
                WHERE workspace = $1 AND body IS NOT NULL AND seq <= (
                    SELECT through FROM sync_erasure WHERE workspace = $1 AND kind = 'scope' AND name = $2
                )
                ORDER BY seq
                LIMIT $3
            ))
            """)

    /// Counts some rows of scope $2 after number $3: living ones, tombstones, bytes of bodies, entries of ledgers, and
    /// the last number.
    static let countRecords = PreparedStatement(
        name: "sync_erasure_count",
        sql: """
            SELECT count(*) FILTER (WHERE NOT deleted), count(*) FILTER (WHERE deleted),
                coalesce(sum(octets), 0)::bigint, coalesce(sum(l.entries), 0)::bigint, max(seq)
            FROM (
                SELECT id, collection, deleted, octets, seq
                FROM sync_record
                WHERE place = \(RowSQL.place) AND seq > $3 AND scope = $2 AND workspace = $1
                ORDER BY seq
                LIMIT $4
            ) r
            CROSS JOIN LATERAL (
                SELECT count(*) AS entries
                FROM sync_ledger
                WHERE workspace = $1 AND collection = r.collection AND id = r.id
            ) l
            """)

    static let countBodies = PreparedStatement(
        name: "sync_erasure_bodies",
        sql: "SELECT count(*) FROM sync_batch WHERE workspace = $1 AND body IS NOT NULL")

    static let beginUser = PreparedStatement(
        name: "sync_begin_user_erasure",
        sql: """
            INSERT INTO sync_erasure (workspace, kind, name, through, begun, alias)
            SELECT workspace, 'user', $2, 0, $4, $3
            FROM sync_workspace
            WHERE workspace = $1
            ON CONFLICT DO NOTHING
            """)

    static let alias = PreparedStatement(
        name: "sync_erasure_alias",
        sql: "SELECT alias FROM sync_erasure WHERE workspace = $1 AND kind = 'user' AND name = $2")

    static let endUser = PreparedStatement(
        name: "sync_end_user_erasure",
        sql: "DELETE FROM sync_erasure WHERE workspace = $1 AND kind = 'user' AND name = $2")

    /// The record $4 further in the order of all workspaces after a key; none if there are fewer.
    static let walkEnd = PreparedStatement(
        name: "sync_erasure_walk_end",
        sql: """
            SELECT id, collection, workspace
            FROM sync_record
            WHERE (id, collection, workspace) > ($1, $2, $3)
            ORDER BY id, collection, workspace
            LIMIT 1
            OFFSET $4
            """)

    /// At most $9 records by user $2, among those after a key, $3 to $5, and up to another, $6 to $8.
    static let authored = PreparedStatement(
        name: "sync_erasure_authored",
        sql: """
            SELECT \(RowReader.recordColumns)
            FROM sync_record
            WHERE (id, collection, workspace) > ($3, $4, $5) AND (id, collection, workspace) <= ($6, $7, $8)
            AND workspace = $1 AND author = $2
            ORDER BY id, collection, sync_record.workspace
            LIMIT $9
            """)

    /// $2 is the user, $3 the alias.
    static let renameLedger = PreparedStatement(
        name: "sync_erasure_rename_ledger",
        sql: """
            UPDATE sync_ledger
            SET client = CASE WHEN author = $2 THEN '00000000-0000-0000-0000-000000000000' ELSE client END,
                author = CASE WHEN author = $2 THEN $3 ELSE author END,
                old_author = CASE WHEN old_author = $2 THEN $3 ELSE old_author END
            WHERE workspace = $1 AND ctid = ANY (ARRAY(
                SELECT ctid FROM sync_ledger WHERE workspace = $1 AND (author = $2 OR old_author = $2) LIMIT $4
            ))
            """)

    /// $2 is the user's name as JSON.
    static let dropBuried = PreparedStatement(
        name: "sync_erase_buried",
        sql: """
            UPDATE sync_record
            SET buried = NULL
            WHERE workspace = $1 AND ctid = ANY (ARRAY(
                SELECT ctid FROM sync_record
                WHERE workspace = $1 AND deleted AND buried IS NOT NULL AND strpos(buried::text, $2) > 0
                LIMIT $3
            ))
            """)

    static let dropAllBodies = PreparedStatement(
        name: "sync_erase_all_bodies",
        sql: """
            UPDATE sync_batch
            SET body = NULL
            WHERE workspace = $1 AND ctid = ANY (ARRAY(
                SELECT ctid FROM sync_batch WHERE workspace = $1 AND body IS NOT NULL LIMIT $2
            ))
            """)

    static let isErased = PreparedStatement(
        name: "sync_is_erased",
        sql: "SELECT 1::bigint FROM sync_erasure WHERE workspace = $1 AND kind = 'workspace'")

    static let beginWorkspace = PreparedStatement(
        name: "sync_begin_workspace_erasure",
        sql: """
            INSERT INTO sync_erasure (workspace, kind, name, through, begun)
            SELECT workspace, 'workspace', '', 0, $2
            FROM sync_workspace
            WHERE workspace = $1
            ON CONFLICT DO NOTHING
            """)

    static let endWorkspace = PreparedStatement(
        name: "sync_end_workspace_erasure",
        sql: "UPDATE sync_erasure SET ended = $2 WHERE workspace = $1 AND kind = 'workspace'")

    static let dropWorkspace = PreparedStatement(
        name: "sync_erase_workspace", sql: "DELETE FROM sync_workspace WHERE workspace = $1")

    /// Deletes at most $2 rows of the tables whose keys begin with the workspace, and of the marks of its scopes.
    static let dropRows = [
        "account", "sign_in", "batch", "ledger", "member", "member_past", "listener", "lineage", "backup", "revocation",
        "erasure",
    ].map { table in
        PreparedStatement(
            name: "sync_erase_all_\(table)",
            sql: """
                DELETE FROM sync_\(table)
                WHERE workspace = $1 AND ctid = ANY (ARRAY(
                    SELECT ctid FROM sync_\(table)
                    WHERE workspace = $1\(table == "erasure" ? " AND kind <> 'workspace'" : "")
                    LIMIT $2
                ))
                """)
    }

    /// Deletes those of workspace $1 among the $5 records of all workspaces after a key. Returns the count and the last
    /// key.
    static let dropAllRecords = PreparedStatement(
        name: "sync_erase_all_records",
        sql: """
            WITH page AS MATERIALIZED (
                SELECT id, collection, workspace
                FROM sync_record
                WHERE (id, collection, workspace) > ($2, $3, $4)
                ORDER BY id, collection, workspace
                LIMIT $5
            ), gone AS (
                DELETE FROM sync_record r
                USING page p
                WHERE p.workspace = $1 AND r.workspace = $1 AND r.id = p.id AND r.collection = p.collection
                RETURNING 1
            )
            SELECT (SELECT count(*) FROM gone), id, collection, workspace
            FROM page
            ORDER BY id DESC, collection DESC, workspace DESC
            LIMIT 1
            """)

    static let dropAllClients = PreparedStatement(
        name: "sync_erase_all_clients",
        sql: """
            WITH page AS MATERIALIZED (
                SELECT client, workspace
                FROM sync_client
                WHERE (client, workspace) > ($2, $3)
                ORDER BY client, workspace
                LIMIT $4
            ), gone AS (
                DELETE FROM sync_client c
                USING page p
                WHERE p.workspace = $1 AND c.workspace = $1 AND c.client = p.client
                RETURNING 1
            )
            SELECT (SELECT count(*) FROM gone), client, workspace
            FROM page
            ORDER BY client DESC, workspace DESC
            LIMIT 1
            """)

}

extension BlobSQL {
    /// Some blobs of scope $2 with their sizes.
    static let some = PreparedStatement(
        name: "sync_some_blobs",
        sql: """
            SELECT s.digest, b.octets
            FROM sync_blob_scope s
            CROSS JOIN LATERAL (SELECT octets FROM sync_blob WHERE workspace = $1 AND digest = s.digest LIMIT 1) b
            WHERE s.workspace = $1 AND s.scope = $2
            ORDER BY s.digest
            LIMIT $3
            """)

    static let erasureUsage = PreparedStatement(
        name: "sync_erasure_usage",
        sql: """
            SELECT count(*), coalesce(sum(b.octets) FILTER (WHERE o.others = 0), 0)::bigint
            FROM sync_blob_scope s
            CROSS JOIN LATERAL (SELECT octets FROM sync_blob WHERE workspace = $1 AND digest = s.digest LIMIT 1) b
            CROSS JOIN LATERAL (
                SELECT count(*) AS others
                FROM sync_blob_scope
                WHERE workspace = $1 AND digest = s.digest AND scope <> $2
            ) o
            WHERE s.workspace = $1 AND s.scope = $2
            """)

    static let someOfUser = PreparedStatement(
        name: "sync_some_blobs_of_user",
        sql: "SELECT scope, digest FROM sync_blob_scope WHERE workspace = $1 AND author = $2 LIMIT 1")

    static let nextScope = PreparedStatement(
        name: "sync_next_blob_scope", sql: "SELECT scope FROM sync_blob_scope WHERE workspace = $1 LIMIT 1")

    static let dropUsage = PreparedStatement(
        name: "sync_drop_blob_usage", sql: "DELETE FROM sync_blob_usage WHERE workspace = $1")

    /// Locks blobs: puts of them have ended, or begin after this transaction.
    static let lock = PreparedStatement(
        name: "sync_lock_blobs",
        sql: """
            SELECT b.digest
            FROM unnest($2) AS x (digest)
            CROSS JOIN LATERAL (
                SELECT digest
                FROM sync_blob
                WHERE workspace = $1 AND digest = x.digest
                LIMIT 1
                FOR UPDATE
            ) b
            """)

    static let dropScopes = PreparedStatement(
        name: "sync_drop_blob_scopes",
        sql: "DELETE FROM sync_blob_scope WHERE workspace = $1 AND scope = $3 AND digest = ANY ($2)")

    /// Deletes the blobs that no scope has, with their parts, and corrects the usage.
    static let drop = PreparedStatement(
        name: "sync_drop_blobs",
        sql: """
            WITH gone AS (
                DELETE FROM sync_blob
                WHERE workspace = $1 AND ctid = ANY (ARRAY(
                    SELECT b.ctid
                    FROM unnest($2) AS x (digest)
                    CROSS JOIN LATERAL (
                        SELECT ctid
                        FROM sync_blob
                        WHERE workspace = $1 AND digest = x.digest
                        AND NOT EXISTS (SELECT 1 FROM sync_blob_scope WHERE workspace = $1 AND digest = x.digest)
                        LIMIT 1
                    ) b
                ))
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
            )
            UPDATE sync_blob_usage
            SET blobs = blobs - (SELECT count(*) FROM gone),
                octets = octets - (SELECT coalesce(sum(octets), 0) FROM gone)
            WHERE workspace = $1
            """)
}
