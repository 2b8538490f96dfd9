import TidemarkPostgres

/// The tables of revocations, and the statements on them.
enum RevocationSQL {
    /// kind is `workspace`, `user` or `client`; name says which, owner whose; not_before is in milliseconds.
    ///
    /// The row of `sync_revocation_head` is locked until the commit, so that numbers become visible in their order. A
    /// reader that has read up to one has missed none below it.
    static let tables =
        [
            """
            CREATE TABLE sync_revocation (
                workspace text COLLATE "C" NOT NULL,
                kind text COLLATE "C" NOT NULL,
                name text COLLATE "C" NOT NULL,
                owner text COLLATE "C" NOT NULL,
                not_before bigint NOT NULL,
                number bigint NOT NULL
            )
            """,
            "CREATE INDEX sync_revocation_number ON sync_revocation (number)",
            """
            CREATE TABLE sync_revocation_head (
                one boolean PRIMARY KEY DEFAULT true CHECK (one),
                number bigint NOT NULL
            )
            """,
            "INSERT INTO sync_revocation_head (number) VALUES (0)",
        ] + PostgresSchema.keyed("sync_revocation", "workspace, kind, name")

    static let revoke = PreparedStatement(
        name: "sync_revoke",
        sql: """
            WITH next AS (
                UPDATE sync_revocation_head
                SET number = number + 1
                WHERE one
                RETURNING number
            )
            INSERT INTO sync_revocation AS r (workspace, kind, name, owner, not_before, number)
            SELECT $1, $2, $3, $4, $5, next.number
            FROM next
            ON CONFLICT (workspace, kind, name) DO UPDATE
            SET owner = excluded.owner, not_before = greatest(r.not_before, excluded.not_before),
                number = excluded.number
            RETURNING not_before, number
            """)

    /// $1 is a time.
    static let forget = PreparedStatement(
        name: "sync_forget_revocations", sql: "DELETE FROM sync_revocation WHERE not_before < $1")

    static let last = PreparedStatement(
        name: "sync_last_revocation", sql: "SELECT number FROM sync_revocation_head WHERE one")

    static let list = PreparedStatement(
        name: "sync_revocations",
        sql: """
            SELECT workspace, kind, name, owner, not_before, number
            FROM sync_revocation
            WHERE number > $1
            ORDER BY number
            LIMIT $2
            """)

    static let owner = PreparedStatement(
        name: "sync_owner",
        sql: """
            SELECT user_id
            FROM sync_client
            WHERE client = $2 AND workspace = $1
            """)

    /// A range of the primary key, which holds clients of all workspaces.
    static let devices = PreparedStatement(
        name: "sync_devices",
        sql: """
            SELECT client, user_id, registered, seen, app, settled, acked, written, position
            FROM sync_client
            WHERE client > $2 AND workspace = $1
            ORDER BY client
            LIMIT $3
            """)

    static let devicesOfUser = PreparedStatement(
        name: "sync_devices_of_user",
        sql: """
            SELECT client, user_id, registered, seen, app, settled, acked, written, position
            FROM sync_client
            WHERE user_id = $4 AND workspace = $1 AND client > $2
            ORDER BY client
            LIMIT $3
            """)
}
