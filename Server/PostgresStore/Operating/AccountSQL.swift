import TidemarkPostgres
import TidemarkStore

/// The tables of accounts and of their signed-in devices, and the statements on them.
enum AccountSQL {
    /// Times are milliseconds; hash is empty without a password. Refresh tokens are not stored: nonce and counter
    /// identify a valid one.
    static let tables =
        [
            """
            CREATE TABLE sync_account (
                workspace text COLLATE "C" NOT NULL,
                login text COLLATE "C" NOT NULL,
                user_id text COLLATE "C" NOT NULL,
                hash text NOT NULL,
                created bigint NOT NULL,
                changed bigint NOT NULL,
                disabled bigint,
                reset text,
                reset_until bigint,
                version bigint NOT NULL
            )
            """,
            "CREATE UNIQUE INDEX sync_account_user ON sync_account (workspace, user_id)",
            """
            CREATE TABLE sync_sign_in (
                workspace text COLLATE "C" NOT NULL,
                user_id text COLLATE "C" NOT NULL,
                client uuid NOT NULL,
                nonce bigint NOT NULL,
                counter bigint NOT NULL,
                began bigint NOT NULL,
                used bigint NOT NULL
            )
            """,
        ] + PostgresSchema.keyed("sync_account", "workspace, login")
        + PostgresSchema.keyed("sync_sign_in", "workspace, user_id, client")

    private static let columns = "login, user_id, hash, created, changed, disabled, reset, reset_until, version"

    static let account = PreparedStatement(
        name: "sync_account",
        sql: "SELECT \(columns) FROM sync_account WHERE workspace = $1 AND login = $2")

    static let accountOfUser = PreparedStatement(
        name: "sync_account_of_user",
        sql: "SELECT \(columns) FROM sync_account WHERE workspace = $1 AND user_id = $2")

    static let accounts = PreparedStatement(
        name: "sync_accounts",
        sql: """
            SELECT \(columns)
            FROM sync_account
            WHERE workspace = $1 AND login > $2
            ORDER BY login
            LIMIT $3
            """)

    static let add = PreparedStatement(
        name: "sync_add_account",
        sql: """
            INSERT INTO sync_account (
                workspace, login, user_id, hash, created, changed, disabled, reset, reset_until, version)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            ON CONFLICT DO NOTHING
            RETURNING version
            """)

    private static let change = """
        UPDATE sync_account
        SET hash = $3, created = $4, changed = $5, disabled = $6, reset = $7, reset_until = $8,
            version = version + 1
        WHERE workspace = $1 AND login = $2 AND version = $9
        RETURNING version
        """

    /// $9 is the version that was read before.
    static let replace = PreparedStatement(name: "sync_replace_account", sql: change)

    /// The same, and ends all sign-ins of user $10. Runs behind ``lock``; otherwise a sign-in that begins meanwhile
    /// would stay.
    static let replaceAndEnd = PreparedStatement(
        name: "sync_replace_account_and_end",
        sql: """
            WITH changed AS (
                \(change)
            ), gone AS (
                DELETE FROM sync_sign_in
                WHERE workspace = $1 AND user_id = $10 AND EXISTS (SELECT 1 FROM changed)
                RETURNING 1
            )
            SELECT version FROM changed
            """)

    static let signIn = PreparedStatement(
        name: "sync_sign_in",
        sql: """
            SELECT user_id, client, nonce, counter, began, used
            FROM sync_sign_in
            WHERE workspace = $1 AND user_id = $2 AND client = $3
            """)

    /// Locks the account. A transaction that changes it waits for this one, and ends the sign-in that this one begins.
    static let lock = PreparedStatement(
        name: "sync_lock_account",
        sql: """
            SELECT version
            FROM sync_account
            WHERE workspace = $1 AND user_id = $2
            FOR UPDATE
            """)

    static let begin = PreparedStatement(
        name: "sync_begin_sign_in",
        sql: """
            INSERT INTO sync_sign_in (workspace, user_id, client, nonce, counter, began, used)
            SELECT a.workspace, a.user_id, $4, $5, $6, $7, $8
            FROM sync_account a
            WHERE a.workspace = $1 AND a.user_id = $2 AND a.version = $3 AND a.disabled IS NULL
            ON CONFLICT (workspace, user_id, client) DO UPDATE
            SET nonce = excluded.nonce, counter = excluded.counter, began = excluded.began, used = excluded.used
            RETURNING counter
            """)

    /// Deletes all sign-ins of a user except the $3 most recently used ones.
    static let dropUnused = PreparedStatement(
        name: "sync_drop_unused_sign_ins",
        sql: """
            DELETE FROM sync_sign_in
            WHERE workspace = $1 AND user_id = $2 AND client = ANY (ARRAY(
                SELECT client
                FROM sync_sign_in
                WHERE workspace = $1 AND user_id = $2
                ORDER BY used DESC, client
                OFFSET $3
            ))
            """)

    /// $7 is the counter that was read before.
    static let advance = PreparedStatement(
        name: "sync_advance_sign_in",
        sql: """
            UPDATE sync_sign_in
            SET counter = $5, used = $6
            WHERE workspace = $1 AND user_id = $2 AND client = $3 AND nonce = $4 AND counter = $7
            RETURNING counter
            """)

    /// $4 is NULL to end the device's sign-in whatever its nonce is.
    static let end = PreparedStatement(
        name: "sync_end_sign_in",
        sql: """
            DELETE FROM sync_sign_in
            WHERE workspace = $1 AND user_id = $2 AND client = $3 AND ($4::bigint IS NULL OR nonce = $4)
            RETURNING counter
            """)

    static let dropSignInsOfUser = PreparedStatement(
        name: "sync_end_sign_ins", sql: "DELETE FROM sync_sign_in WHERE workspace = $1 AND user_id = $2")

    static let dropAccountOfUser = PreparedStatement(
        name: "sync_drop_account_of_user", sql: "DELETE FROM sync_account WHERE workspace = $1 AND user_id = $2")

    static let forget = PreparedStatement(
        name: "sync_forget_sign_ins",
        sql: """
            DELETE FROM sync_sign_in
            WHERE workspace = $1 AND ctid = ANY (ARRAY(
                SELECT ctid FROM sync_sign_in WHERE workspace = $1 AND used < $2 LIMIT $3
            ))
            """)
}
