import TidemarkModel
import TidemarkPostgres
import TidemarkStore

/// The tables of operators' acts and of ended memberships, and the statements on them.
enum OperatingSQL {
    /// Acts belong to the whole database; user_id is a column of its own, since it is deleted when the user is erased.
    /// Ended memberships are kept until the horizon has passed their end.
    static let tables =
        [
            """
            CREATE TABLE sync_act (
                number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                time bigint NOT NULL,
                who text NOT NULL,
                kind text NOT NULL,
                workspace text COLLATE "C",
                user_id text COLLATE "C",
                argument text NOT NULL,
                reason text NOT NULL,
                outcome text
            )
            """,
            """
            CREATE TABLE sync_member_past (
                workspace text COLLATE "C" NOT NULL,
                user_id text COLLATE "C" NOT NULL,
                scope text COLLATE "C" NOT NULL,
                role text NOT NULL,
                since bigint NOT NULL,
                ended bigint NOT NULL
            )
            """,
        ] + PostgresSchema.keyed("sync_member_past", "workspace, user_id, scope, since")

    static let begin = PreparedStatement(
        name: "sync_begin_act",
        sql: """
            INSERT INTO sync_act (time, who, kind, workspace, user_id, argument, reason)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            RETURNING number
            """)

    static let trim = PreparedStatement(name: "sync_trim_acts", sql: "DELETE FROM sync_act WHERE number <= $1")

    static let end = PreparedStatement(name: "sync_end_act", sql: "UPDATE sync_act SET outcome = $2 WHERE number = $1")

    static let list = PreparedStatement(
        name: "sync_acts",
        sql: """
            SELECT number, time, who, kind, workspace, user_id, argument, reason, outcome
            FROM sync_act
            WHERE number < $1
            ORDER BY number DESC
            LIMIT $2
            """)

    /// $2 is the user, $3 the alias.
    static let renameActs = PreparedStatement(
        name: "sync_rename_acts", sql: "UPDATE sync_act SET user_id = $3 WHERE workspace = $1 AND user_id = $2")

    /// Runs before `SequencingSQL.endMembers`.
    static let keepEnded = PreparedStatement(
        name: "sync_keep_ended_members",
        sql: """
            INSERT INTO sync_member_past (workspace, user_id, scope, role, since, ended)
            SELECT m.workspace, m.user_id, m.scope, m.role, m.since, u.ended
            FROM unnest($2, $3, $4) AS u (user_id, scope, ended)
            CROSS JOIN LATERAL (
                SELECT workspace, user_id, scope, role, since
                FROM sync_member
                WHERE workspace = $1 AND user_id = u.user_id AND scope = u.scope
                LIMIT 1
            ) m
            ON CONFLICT DO NOTHING
            """)

    static let followers = PreparedStatement(
        name: "sync_followers", sql: "SELECT node FROM sync_listener WHERE workspace = $1 AND seen > $2")

    static let ended = PreparedStatement(
        name: "sync_ended_members",
        sql: """
            SELECT user_id, scope, role, since, ended
            FROM sync_member_past
            WHERE workspace = $1 AND user_id = $2 AND ($3::text IS NULL OR scope = $3)
            ORDER BY ended DESC, scope
            LIMIT $4
            """)

    static let dropEndedOfScope = PreparedStatement(
        name: "sync_drop_ended_of_scope", sql: "DELETE FROM sync_member_past WHERE workspace = $1 AND scope = $2")

    static let dropEndedOfUser = PreparedStatement(
        name: "sync_drop_ended_of_user", sql: "DELETE FROM sync_member_past WHERE workspace = $1 AND user_id = $2")

    static let dropEndedBehind = PreparedStatement(
        name: "sync_drop_ended_behind", sql: "DELETE FROM sync_member_past WHERE workspace = $1 AND ended <= $2")

    static let records = PreparedStatement(
        name: "sync_records_of_id",
        sql: """
            SELECT \(RowReader.storedRecordColumns)
            FROM sync_record
            WHERE id = $2 AND workspace = $1
            ORDER BY id, collection, workspace
            LIMIT 100
            """)

    static let workspaces = PreparedStatement(
        name: "sync_some_workspaces",
        sql: """
            SELECT workspace
            FROM sync_workspace
            WHERE workspace > $1
            ORDER BY workspace
            LIMIT $2
            """)

    /// Workspaces without writes have no head.
    static let figures = PreparedStatement(
        name: "sync_workspace_figures",
        sql: """
            SELECT w.horizon, coalesce(h.seq, 0), coalesce(h.nonce, 0), coalesce(h.time, 0), coalesce(h.epoch, 0), m.members,
                r.low, r.time
            FROM (SELECT workspace, horizon FROM sync_workspace WHERE workspace = $1) w
            LEFT JOIN (
                SELECT workspace, seq, nonce, time, epoch
                FROM sync_batch
                WHERE workspace = $1
                ORDER BY seq DESC
                LIMIT 1
            ) h ON h.workspace = w.workspace
            CROSS JOIN (
                SELECT count(*) AS members
                FROM (SELECT 1 FROM sync_member WHERE workspace = $1 LIMIT \(WorkspaceFigures.membersMax)) counted
            ) m
            LEFT JOIN (
                SELECT workspace, low, time
                FROM (
                    SELECT workspace, seq, low, time
                    FROM sync_batch
                    WHERE workspace = $1
                    ORDER BY seq DESC
                    LIMIT \(WorkspaceFigures.recentBatches)
                ) newest
                ORDER BY seq
                LIMIT 1
            ) r ON r.workspace = w.workspace
            """)
}
