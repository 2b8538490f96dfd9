/// The statements of the store. Each begins its search at a workspace, or at one of its scopes.
enum EmbeddedSQL {
    static let makeWorkspace = "INSERT OR IGNORE INTO sync_workspace (workspace) VALUES (?)"

    static let head = """
        SELECT \(ColumnReader.headColumns)
        FROM sync_batch
        WHERE workspace = ?
        ORDER BY seq DESC
        LIMIT 1
        """

    static let batchHolding = """
        SELECT \(ColumnReader.headColumns)
        FROM sync_batch
        WHERE workspace = ? AND seq >= ?
        ORDER BY seq
        LIMIT 1
        """

    static let batchBefore = """
        SELECT \(ColumnReader.headColumns)
        FROM sync_batch
        WHERE workspace = ? AND seq < ?
        ORDER BY seq DESC
        LIMIT 1
        """

    static let tail = """
        SELECT \(ColumnReader.headColumns), low, CASE WHEN seq > ?2 THEN body END
        FROM sync_batch
        WHERE workspace = ?1 AND seq >= ?2
        ORDER BY seq
        LIMIT ?3
        """

    static let record = """
        SELECT \(ColumnReader.recordColumns)
        FROM sync_record
        WHERE workspace = ? AND collection = ? AND id = ?
        """

    static let storedRecord = """
        SELECT \(ColumnReader.storedRecordColumns)
        FROM sync_record
        WHERE workspace = ? AND collection = ? AND id = ?
        """

    static let recordAtRow = "SELECT \(ColumnReader.recordColumns) FROM sync_record WHERE row = ?"

    static let scope = "SELECT scope FROM sync_record WHERE workspace = ? AND collection = ? AND id = ?"

    static let client = "SELECT \(ColumnReader.storedClientColumns) FROM sync_client WHERE workspace = ? AND client = ?"

    static let clientCount = "SELECT count(*) FROM sync_client WHERE workspace = ? AND user = ?"

    static let insertClient = """
        INSERT INTO sync_client (workspace, client, user, settled, acked, connection, registered)
        VALUES (?, ?, ?, 0, 0, 0, ?)
        """

    static let clientsOfUser = """
        SELECT client, settled, registered, seen
        FROM sync_client
        WHERE workspace = ? AND user = ?
        ORDER BY settled > 0, settled > acked, max(seen, registered), client
        LIMIT ?
        """

    static let sawClient = """
        UPDATE sync_client
        SET seen = ?3, app = coalesce(?4, app), written = coalesce(?5, written), position = coalesce(?6, position)
        WHERE workspace = ?1 AND client = ?2
        """

    static let removeClient = "DELETE FROM sync_client WHERE workspace = ? AND client = ?"

    static let updateClient = """
        UPDATE sync_client
        SET settled = ?4, acked = ?5, connection = ?6, kept = ?7
        WHERE workspace = ?1 AND client = ?2 AND user = ?3
        AND settled <= ?4 AND acked <= ?5 AND connection <= ?6
        """

    static let grant = """
        SELECT \(ColumnReader.grantColumns)
        FROM sync_member
        WHERE workspace = ? AND user = ? AND scope = ?
        """

    static let grants = """
        SELECT \(ColumnReader.grantColumns)
        FROM sync_member
        WHERE workspace = ? AND user = ?
        ORDER BY since DESC, scope
        """

    /// A change of the role alone (?6 = 1) keeps the stored beginning.
    static let upsertMember = """
        INSERT INTO sync_member (workspace, user, scope, role, since)
        VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (workspace, user, scope) DO UPDATE
        SET role = excluded.role, since = CASE ?6 WHEN 1 THEN since ELSE excluded.since END
        """

    static let endMember = "DELETE FROM sync_member WHERE workspace = ? AND user = ? AND scope = ?"

    /// Fails if the record exists.
    static let insertRecord = """
        INSERT INTO sync_record (place, workspace, \(ColumnReader.storedRecordColumns))
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// Updates an existing record, with the parameters of ``insertRecord``; the first is not needed.
    static let updateRecord = """
        UPDATE sync_record
        SET seq = ?6, deleted = ?8, author = ?9, created = ?10, updated = ?11, body = ?12, buried = ?13
        WHERE id = ?4 AND collection = ?3 AND workspace = ?2 AND scope = ?5 AND born = ?7 AND seq < ?6
        """

    static let hasRecord = "SELECT 1 FROM sync_record WHERE workspace = ? AND collection = ? AND id = ?"

    static let insertBatch = """
        INSERT INTO sync_batch (workspace, seq, low, nonce, time, epoch, body)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """

    static let dropBodies = """
        UPDATE sync_batch
        SET body = NULL
        WHERE workspace = ? AND seq > ? AND seq <= ? AND body IS NOT NULL
        """
}
