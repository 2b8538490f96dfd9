/// The table of erasures, and the statements on it.
enum EmbeddedErasureSQL {
    /// kind is `scope`, `user` or `workspace`; through is the end of the order when the mark was made; begun and ended
    /// are milliseconds; alias replaces a user.
    static let table = """
        CREATE TABLE sync_erasure (
            workspace TEXT NOT NULL,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            through INTEGER NOT NULL,
            begun INTEGER NOT NULL,
            ended INTEGER,
            alias TEXT,
            PRIMARY KEY (workspace, kind, name)
        ) STRICT, WITHOUT ROWID
        """

    static let scopes = "SELECT workspace, name FROM sync_erasure WHERE kind = 'scope'"

    static let beginUser = """
        INSERT INTO sync_erasure (workspace, kind, name, through, begun, alias)
        SELECT workspace, 'user', ?2, 0, ?4, ?3 FROM sync_workspace WHERE workspace = ?1
        ON CONFLICT (workspace, kind, name) DO NOTHING
        """

    static let alias = "SELECT alias FROM sync_erasure WHERE workspace = ? AND kind = 'user' AND name = ?"

    static let endUser = "DELETE FROM sync_erasure WHERE workspace = ? AND kind = 'user' AND name = ?"

    static let lastRow = "SELECT coalesce(max(row), 0) FROM sync_record"

    /// At most ?5 records in rows after ?3 and up to ?4.
    static let authored = """
        SELECT row, \(ColumnReader.recordColumns)
        FROM sync_record
        WHERE row > ?3 AND row <= ?4 AND workspace = ?1 AND author = ?2
        ORDER BY row
        LIMIT ?5
        """

    /// ?2 is the user, ?3 the alias.
    static let renameLedger = """
        UPDATE sync_ledger
        SET client = CASE WHEN author = ?2 THEN '00000000-0000-0000-0000-000000000000' ELSE client END,
            author = CASE WHEN author = ?2 THEN ?3 ELSE author END,
            old_author = CASE WHEN old_author = ?2 THEN ?3 ELSE old_author END
        WHERE rowid IN (
            SELECT rowid FROM sync_ledger WHERE workspace = ?1 AND (author = ?2 OR old_author = ?2) LIMIT ?4
        )
        """

    /// ?2 is the user's name as JSON.
    static let dropBuried = """
        UPDATE sync_record
        SET buried = NULL
        WHERE workspace = ?1 AND deleted = 1 AND buried IS NOT NULL AND instr(buried, ?2) > 0
        """

    static let dropAllBodies = "UPDATE sync_batch SET body = NULL WHERE workspace = ? AND body IS NOT NULL"

    static let workspaces = "SELECT workspace FROM sync_erasure WHERE kind = 'workspace'"

    static let beginWorkspace = """
        INSERT INTO sync_erasure (workspace, kind, name, through, begun)
        VALUES (?1, 'workspace', '', 0, ?2)
        ON CONFLICT (workspace, kind, name) DO NOTHING
        """

    static let endWorkspace = "UPDATE sync_erasure SET ended = ?2 WHERE workspace = ?1 AND kind = 'workspace'"

    static let dropWorkspace = "DELETE FROM sync_workspace WHERE workspace = ?"

    static let hasWorkspace = "SELECT 1 FROM sync_workspace WHERE workspace = ?"

    static let nextScope = "SELECT scope FROM sync_scope WHERE workspace = ? LIMIT 1"

    /// Deletes at most ?2 rows of a workspace per table, and of the marks of its scopes. Each table has the rest of its
    /// key.
    static let dropRows = [
        ("account", "login"), ("sign_in", "user, client"), ("batch", "rowid"), ("ledger", "rowid"),
        ("lineage", "epoch"), ("client", "client"), ("revocation", "kind, name"), ("member", "user, scope"),
        ("member_past", "user, scope, since"), ("erasure", "kind, name"),
    ].map { table, key in
        let condition = "workspace = ?1" + (table == "erasure" ? " AND kind <> 'workspace'" : "")
        return """
            DELETE FROM sync_\(table)
            WHERE \(condition) AND (\(key)) IN (SELECT \(key) FROM sync_\(table) WHERE \(condition) LIMIT ?2)
            """
    }

    static let scopesOf = "SELECT name FROM sync_erasure WHERE workspace = ? AND kind = 'scope'"

    static let open = """
        SELECT name
        FROM sync_erasure
        WHERE workspace = ? AND kind = 'scope' AND ended IS NULL
        ORDER BY name
        """

    static let begin = """
        INSERT INTO sync_erasure (workspace, kind, name, through, begun)
        VALUES (?1, 'scope', ?2, ?3, ?4)
        ON CONFLICT (workspace, kind, name) DO UPDATE SET through = excluded.through, ended = NULL
        """

    static let through = "SELECT through FROM sync_erasure WHERE workspace = ? AND kind = 'scope' AND name = ?"

    static let end = """
        UPDATE sync_erasure
        SET ended = ?3, through = coalesce((SELECT max(seq) FROM sync_batch WHERE workspace = ?1), through)
        WHERE workspace = ?1 AND kind = 'scope' AND name = ?2
        """

    /// In the order of the key, after a seat.
    static let members = """
        SELECT user, scope
        FROM sync_member
        WHERE workspace = ?1 AND (user, scope) > (?2, ?3)
        ORDER BY user, scope
        LIMIT ?4
        """

    static let dropPlace = """
        DELETE FROM sync_scope
        WHERE place = ?1 AND NOT EXISTS (SELECT 1 FROM sync_feed WHERE place = ?1)
        """

    static let dropBodies = """
        UPDATE sync_batch
        SET body = NULL
        WHERE workspace = ? AND seq <= ? AND body IS NOT NULL
        """

    private static let rows = """
        SELECT row FROM sync_feed WHERE place = ?1
        UNION ALL
        SELECT row FROM sync_record WHERE row > (SELECT through FROM sync_filing) AND place = ?1
        """

    /// The count of living records, of tombstones, and the bytes of bodies.
    static let countRecords = """
        SELECT coalesce(sum(deleted = 0), 0), coalesce(sum(deleted = 1), 0),
            coalesce(sum(length(CAST(body AS BLOB))), 0)
        FROM sync_record
        WHERE row IN (\(rows))
        """

    static let countLedger = "SELECT count(*) FROM sync_ledger WHERE workspace = ? AND scope = ?"

    static let countBodies = "SELECT count(*) FROM sync_batch WHERE workspace = ? AND body IS NOT NULL"
}
