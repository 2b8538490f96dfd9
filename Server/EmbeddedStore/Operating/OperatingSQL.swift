import TidemarkStore

/// The tables of operators' acts and of ended memberships, and the statements on them.
enum OperatingSQL {
    /// Acts belong to the whole file; user is a column of its own, since it is deleted when the user is erased. Ended
    /// memberships are kept until the horizon has passed their end.
    static let tables = [
        """
        CREATE TABLE sync_act (
            number INTEGER PRIMARY KEY,
            time INTEGER NOT NULL,
            who TEXT NOT NULL,
            kind TEXT NOT NULL,
            workspace TEXT,
            user TEXT,
            argument TEXT NOT NULL,
            reason TEXT NOT NULL,
            outcome TEXT
        ) STRICT
        """,
        """
        CREATE TABLE sync_member_past (
            workspace TEXT NOT NULL,
            user TEXT NOT NULL,
            scope TEXT NOT NULL,
            role TEXT NOT NULL,
            since INTEGER NOT NULL,
            ended INTEGER NOT NULL,
            PRIMARY KEY (workspace, user, scope, since)
        ) STRICT, WITHOUT ROWID
        """,
    ]

    static let begin = """
        INSERT INTO sync_act (time, who, kind, workspace, user, argument, reason)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        RETURNING number
        """

    static let trim = "DELETE FROM sync_act WHERE number <= ?"

    static let end = "UPDATE sync_act SET outcome = ?2 WHERE number = ?1"

    static let list = """
        SELECT number, time, who, kind, workspace, user, argument, reason, outcome
        FROM sync_act
        WHERE number < ?
        ORDER BY number DESC
        LIMIT ?
        """

    /// ?2 is the user, ?3 the alias.
    static let renameActs = "UPDATE sync_act SET user = ?3 WHERE workspace = ?1 AND user = ?2"

    /// Runs before `EmbeddedSQL.endMember`; ?4 is the number that ends the membership.
    static let keepEnded = """
        INSERT INTO sync_member_past (workspace, user, scope, role, since, ended)
        SELECT workspace, user, scope, role, since, ?4
        FROM sync_member
        WHERE workspace = ?1 AND user = ?2 AND scope = ?3
        ON CONFLICT DO NOTHING
        """

    static let ended = """
        SELECT user, scope, role, since, ended
        FROM sync_member_past
        WHERE workspace = ?1 AND user = ?2 AND (?3 IS NULL OR scope = ?3)
        ORDER BY ended DESC, scope
        LIMIT ?4
        """

    static let dropEndedOfScope = "DELETE FROM sync_member_past WHERE workspace = ? AND scope = ?"

    static let dropEndedOfUser = "DELETE FROM sync_member_past WHERE workspace = ? AND user = ?"

    static let dropEndedBehind = "DELETE FROM sync_member_past WHERE workspace = ? AND ended <= ?"

    static let records = """
        SELECT \(ColumnReader.storedRecordColumns)
        FROM sync_record
        WHERE id = ?2 AND workspace = ?1
        ORDER BY collection
        LIMIT 100
        """

    /// Workspaces without writes have no head.
    static let workspaces = """
        SELECT w.workspace, w.horizon, coalesce(h.seq, 0), coalesce(h.nonce, 0), coalesce(h.time, 0),
            coalesce(h.epoch, 0),
            (
                SELECT count(*)
                FROM (
                    SELECT 1 FROM sync_member m WHERE m.workspace = w.workspace LIMIT \(WorkspaceFigures.membersMax)
                )
            )
        FROM (SELECT workspace, horizon FROM sync_workspace WHERE workspace > ?1 ORDER BY workspace LIMIT ?2) w
        LEFT JOIN sync_batch h ON h.workspace = w.workspace
            AND h.seq = (SELECT max(seq) FROM sync_batch b WHERE b.workspace = w.workspace)
        ORDER BY w.workspace
        """

    /// The first one of the last ?2 batches.
    static let recent = """
        SELECT low, time
        FROM (SELECT seq, low, time FROM sync_batch WHERE workspace = ?1 ORDER BY seq DESC LIMIT ?2)
        ORDER BY seq
        LIMIT 1
        """
}
