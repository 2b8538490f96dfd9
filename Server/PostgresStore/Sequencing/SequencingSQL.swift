import TidemarkModel
import TidemarkPostgres

/// The statements of one step of the order. Each names its workspace.
///
/// Inserts from arrays join `sync_workspace`, which a distributed PostgreSQL needs to keep them on one shard. Searches
/// for the elements of an array are LATERAL with LIMIT or OFFSET: that leaves one way to plan them, a search in an
/// index for each element.
///
/// No statement counts rows afterwards, since COMMIT is sent right behind it: if a row would change in a way that the
/// contract forbids, `sync_refuse` fails the transaction with ``GuardSQL/state``.
enum SequencingSQL {
    /// The lock of a workspace. It is a statement of its own, so that everything after it sees what the last holder
    /// committed (R-02). A node of a generation that the database does not serve is refused, see ``FenceSQL``.
    static func lock(_ workspace: WorkspaceID, generation: Int) -> Statement {
        Statement(fencedLock, workspace) { $0.add(Int64(generation)) }
    }

    static let fencedLock = PreparedStatement(
        name: "sync_fenced_lock",
        sql: """
            SELECT w.workspace, \(FenceSQL.passes("$2"))
            FROM sync_workspace w, sync_fence f
            WHERE w.workspace = $1 AND f.one
            FOR NO KEY UPDATE OF w
            """)

    /// Has no effect for an erased workspace: a lock then finds no row.
    static let makeWorkspace = PreparedStatement(
        name: "sync_make_workspace",
        sql: """
            INSERT INTO sync_workspace (workspace)
            SELECT $1
            WHERE NOT EXISTS (SELECT 1 FROM sync_erasure WHERE workspace = $1 AND kind = 'workspace')
            ON CONFLICT DO NOTHING
            """)

    /// One row, with NULLs before the first batch; its last column is when a node other than $2 was heard.
    static let headAndListeners = PreparedStatement(
        name: "sync_head_listeners",
        sql: """
            SELECT h.seq, h.nonce, h.time, h.epoch, l.heard
            FROM (SELECT max(seen) AS heard FROM sync_listener WHERE workspace = $1 AND node <> $2) l
            LEFT JOIN LATERAL (
                SELECT \(RowReader.headColumns)
                FROM sync_batch
                WHERE workspace = $1
                ORDER BY seq DESC
                LIMIT 1
            ) h ON true
            """)

    static let clients = PreparedStatement(
        name: "sync_clients",
        sql: """
            SELECT c.*
            FROM unnest($2) AS x (client)
            CROSS JOIN LATERAL (
                SELECT \(RowReader.storedClientColumns)
                FROM sync_client
                WHERE workspace = $1 AND client = x.client
                LIMIT 1
            ) c
            """)

    static let seats = PreparedStatement(
        name: "sync_seats",
        sql: """
            SELECT x.user_id, m.*
            FROM unnest($2, $3) AS x (user_id, scope)
            CROSS JOIN LATERAL (
                SELECT \(RowReader.grantColumns)
                FROM sync_member
                WHERE workspace = $1 AND user_id = x.user_id AND scope = x.scope
                LIMIT 1
            ) m
            """)

    /// Records and the seats of users in their scopes, in one search: one row for each pair. The body is in the pairs
    /// that want it. A pair without a user finds no seat.
    static let records = PreparedStatement(
        name: "sync_records",
        sql: """
            SELECT \(RowReader.envelopeColumns(of: "r")), CASE x.wanted WHEN 1 THEN r.body END AS body,
                CASE x.wanted WHEN 1 THEN r.buried END AS buried, x.wanted, x.user_id, m.since, m.role
            FROM unnest($2, $3, $4, $5) AS x (collection, id, wanted, user_id)
            CROSS JOIN LATERAL (
                SELECT \(RowReader.storedRecordColumns)
                FROM sync_record
                WHERE workspace = $1 AND collection = x.collection AND id = x.id
                LIMIT 1
            ) r
            LEFT JOIN LATERAL (
                SELECT since, role
                FROM sync_member
                WHERE workspace = $1 AND user_id = x.user_id AND scope = r.scope
                LIMIT 1
            ) m ON true
            """)

    /// New records: a plain insert writes a third less, and fails if one exists.
    static let insertRecords = PreparedStatement(name: "sync_insert_records", sql: insertIntoRecord)

    static let upsertRecords = PreparedStatement(
        name: "sync_upsert_records",
        sql: insertIntoRecord + "\n" + """
            ON CONFLICT (workspace, collection, id) DO UPDATE
            SET seq = CASE WHEN r.scope = EXCLUDED.scope AND r.born = EXCLUDED.born AND r.seq < EXCLUDED.seq
                    THEN EXCLUDED.seq ELSE sync_refuse(r.seq) END,
                deleted = EXCLUDED.deleted, author = EXCLUDED.author, created = EXCLUDED.created,
                updated = EXCLUDED.updated, octets = EXCLUDED.octets, body = EXCLUDED.body,
                buried = EXCLUDED.buried
            """)

    private static let insertIntoRecord = """
        INSERT INTO sync_record AS r (
            workspace, collection, id, scope, place, seq, born, deleted, author, created, updated, octets, body,
            buried)
        SELECT w.workspace, u.collection, u.id, \(ErasureSQL.passes("u.scope", isLiving: "u.body IS NOT NULL")),
            hashtextextended(u.scope, w.salt), u.seq, u.born, u.body IS NULL,
            u.author, u.created, u.updated, coalesce(octet_length(u.body), 0), u.body::json,
            u.buried::json
        FROM sync_workspace w, unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            AS u (collection, id, scope, seq, born, author, created, updated, body, buried)
        WHERE w.workspace = $1
        """

    static let beginMembers = PreparedStatement(
        name: "sync_begin_members",
        sql: """
            INSERT INTO sync_member (workspace, user_id, scope, role, since)
            SELECT w.workspace, u.user_id, u.scope, u.role, u.since
            FROM sync_workspace w, unnest($2, $3, $4, $5) AS u (user_id, scope, role, since)
            WHERE w.workspace = $1
            ON CONFLICT (workspace, user_id, scope) DO UPDATE
            SET role = EXCLUDED.role, since = EXCLUDED.since
            """)

    /// Like `beginMembers`, but an existing membership keeps its beginning.
    static let changeMembers = PreparedStatement(
        name: "sync_change_members",
        sql: """
            INSERT INTO sync_member (workspace, user_id, scope, role, since)
            SELECT w.workspace, u.user_id, u.scope, u.role, u.since
            FROM sync_workspace w, unnest($2, $3, $4, $5) AS u (user_id, scope, role, since)
            WHERE w.workspace = $1
            ON CONFLICT (workspace, user_id, scope) DO UPDATE
            SET role = EXCLUDED.role
            """)

    static let endMembers = PreparedStatement(
        name: "sync_end_members",
        sql: """
            DELETE FROM sync_member m
            USING unnest($2, $3) AS u (user_id, scope)
            WHERE m.workspace = $1 AND m.user_id = u.user_id AND m.scope = u.scope
            """)

    /// These clients are known to exist: the step has read them under the lock, or the guard of its batch has confirmed
    /// the node's memory.
    static let updateClients = PreparedStatement(
        name: "sync_update_clients",
        sql: """
            UPDATE sync_client c
            SET settled = CASE WHEN c.user_id = u.user_id AND c.settled <= u.settled AND c.acked <= u.acked
                    AND c.connection <= u.connection THEN u.settled ELSE sync_refuse(c.settled) END,
                acked = u.acked, connection = u.connection, kept = u.kept::json
            FROM unnest($2, $3, $4, $5, $6, $7) AS u (client, user_id, settled, acked, connection, kept)
            WHERE c.workspace = $1 AND c.client = u.client
            """)

    static let removeClient = PreparedStatement(
        name: "sync_remove_client",
        sql: """
            DELETE FROM sync_client
            WHERE workspace = $1 AND client = $2
            """)

    /// The first of a batch's statements. It fails unless the head ($8, $9) is the one that the batch was planned on.
    /// It also fails if a node other than $11, which would need the body, was heard later than $10. A listener may end
    /// without the workspace's lock; that only costs a needless body.
    static let insertBatch = PreparedStatement(
        name: "sync_insert_guarded_batch",
        sql: """
            INSERT INTO sync_batch (workspace, seq, low, nonce, time, epoch, body)
            SELECT w.workspace, $2,
                CASE WHEN coalesce(h.seq, 0) = $8 AND coalesce(h.nonce, 0) = $9
                        AND (l.heard IS NULL OR l.heard <= $10)
                    THEN $3 ELSE sync_refuse(h.seq) END,
                $4, $5, $6, $7
            FROM sync_workspace w
            CROSS JOIN (SELECT max(seen) AS heard FROM sync_listener WHERE workspace = $1 AND node <> $11) l
            LEFT JOIN LATERAL (
                SELECT seq, nonce
                FROM sync_batch
                WHERE workspace = $1
                ORDER BY seq DESC
                LIMIT 1
            ) h ON true
            WHERE w.workspace = $1
            """)

    static let dropBodies = PreparedStatement(
        name: "sync_drop_bodies",
        sql: """
            UPDATE sync_batch
            SET body = NULL
            WHERE workspace = $1 AND seq > $2 AND seq <= $3 AND body IS NOT NULL
            """)

    static let batchNonce = PreparedStatement(
        name: "sync_batch_nonce",
        sql: """
            SELECT nonce
            FROM sync_batch
            WHERE workspace = $1 AND seq = $2
            """)
}
