/// The tables of accounts and of their signed-in devices, and the statements on them.
enum AccountSQL {
    /// Times are milliseconds; hash is empty without a password. Refresh tokens are not stored: nonce and counter
    /// identify a valid one.
    static let tables = [
        """
        CREATE TABLE sync_account (
            workspace TEXT NOT NULL,
            login TEXT NOT NULL,
            user TEXT NOT NULL,
            hash TEXT NOT NULL,
            created INTEGER NOT NULL,
            changed INTEGER NOT NULL,
            disabled INTEGER,
            reset TEXT,
            reset_until INTEGER,
            version INTEGER NOT NULL,
            PRIMARY KEY (workspace, login),
            UNIQUE (workspace, user)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE sync_sign_in (
            workspace TEXT NOT NULL,
            user TEXT NOT NULL,
            client TEXT NOT NULL,
            nonce INTEGER NOT NULL,
            counter INTEGER NOT NULL,
            began INTEGER NOT NULL,
            used INTEGER NOT NULL,
            PRIMARY KEY (workspace, user, client)
        ) STRICT, WITHOUT ROWID
        """,
    ]

    private static let columns = "login, user, hash, created, changed, disabled, reset, reset_until, version"

    static let account = "SELECT \(columns) FROM sync_account WHERE workspace = ? AND login = ?"

    static let accountOfUser = "SELECT \(columns) FROM sync_account WHERE workspace = ? AND user = ?"

    static let accounts = """
        SELECT \(columns)
        FROM sync_account
        WHERE workspace = ? AND login > ?
        ORDER BY login
        LIMIT ?
        """

    static let add = """
        INSERT INTO sync_account (
            workspace, login, user, hash, created, changed, disabled, reset, reset_until, version)
        VALUES (?1, ?2, ?10, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT DO NOTHING
        """

    /// ?9 is the version that was read before.
    static let replace = """
        UPDATE sync_account
        SET hash = ?3, created = ?4, changed = ?5, disabled = ?6, reset = ?7, reset_until = ?8, version = version + 1
        WHERE workspace = ?1 AND login = ?2 AND version = ?9
        """

    static let signIn = """
        SELECT user, client, nonce, counter, began, used
        FROM sync_sign_in
        WHERE workspace = ? AND user = ? AND client = ?
        """

    static let begin = """
        INSERT INTO sync_sign_in (workspace, user, client, nonce, counter, began, used)
        SELECT a.workspace, a.user, ?4, ?5, ?6, ?7, ?8
        FROM sync_account a
        WHERE a.workspace = ?1 AND a.user = ?2 AND a.version = ?3 AND a.disabled IS NULL
        ON CONFLICT (workspace, user, client) DO UPDATE
        SET nonce = excluded.nonce, counter = excluded.counter, began = excluded.began, used = excluded.used
        """

    /// Deletes all sign-ins of a user except the ?3 most recently used ones.
    static let dropUnused = """
        DELETE FROM sync_sign_in
        WHERE workspace = ?1 AND user = ?2 AND client NOT IN (
            SELECT client
            FROM sync_sign_in
            WHERE workspace = ?1 AND user = ?2
            ORDER BY used DESC, client
            LIMIT ?3
        )
        """

    /// ?7 is the counter that was read before.
    static let advance = """
        UPDATE sync_sign_in
        SET counter = ?5, used = ?6
        WHERE workspace = ?1 AND user = ?2 AND client = ?3 AND nonce = ?4 AND counter = ?7
        """

    /// ?4 is NULL to end the device's sign-in whatever its nonce is.
    static let end = """
        DELETE FROM sync_sign_in
        WHERE workspace = ?1 AND user = ?2 AND client = ?3 AND (?4 IS NULL OR nonce = ?4)
        """

    static let endSignIns = "DELETE FROM sync_sign_in WHERE workspace = ? AND user = ?"

    static let dropAccountOfUser = "DELETE FROM sync_account WHERE workspace = ? AND user = ?"

    static let forget = """
        DELETE FROM sync_sign_in
        WHERE workspace = ?1 AND (user, client) IN (
            SELECT user, client FROM sync_sign_in WHERE workspace = ?1 AND used < ?2 LIMIT ?3
        )
        """
}
