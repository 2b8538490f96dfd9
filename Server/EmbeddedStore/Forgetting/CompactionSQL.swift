import GRDB
import TidemarkStore

/// The statements that forget the rows behind a horizon. Each search of records begins with the first column of
/// `sync_record_dead` or `sync_feed`.
enum CompactionSQL {
    static let horizon = "SELECT horizon FROM sync_workspace WHERE workspace = ?"

    static let keep = "SELECT keep FROM sync_workspace WHERE workspace = ?"

    static let setKeep = "UPDATE sync_workspace SET keep = ?2 WHERE workspace = ?1"

    static let newestTurn = "SELECT coalesce(max(compacted), 0) FROM sync_workspace"

    /// One search for each workspace.
    static let oldestBatch = """
        SELECT min((SELECT time FROM sync_batch b WHERE b.workspace = w.workspace ORDER BY seq LIMIT 1))
        FROM sync_workspace w
        """

    static func clockWitness(_ db: Database) throws -> ClockWitness {
        if let turn = try Prepared(newestTurn, db).first({ _ in }, { $0.integer() }), turn > 0 {
            return ClockWitness(reached: turn)
        }
        return ClockWitness(reached: try Prepared(oldestBatch, db).first({ _ in }, { $0.optionalInteger() }) ?? nil)
    }

    static let due = """
        SELECT workspace, keep
        FROM sync_workspace
        WHERE compacted < ?
        ORDER BY compacted, workspace
        LIMIT ?
        """

    static let begin = "UPDATE sync_workspace SET compacted = ?3 WHERE workspace = ?1 AND compacted < ?2"

    /// Raises the horizon only to an existing batch: the database may have gone back since the batch was found.
    static let raise = """
        UPDATE sync_workspace
        SET horizon = ?2
        WHERE workspace = ?1 AND horizon < ?2
        AND EXISTS (SELECT 1 FROM sync_batch WHERE workspace = ?1 AND seq = ?2 AND nonce = ?3)
        """

    /// ?3 is a JSON array of collections that open scopes. ?4 is 1 for their tombstones, unless another of them has a
    /// living record of that id; 0 for all others.
    static let tombstones = """
        SELECT row
        FROM sync_record AS r
        WHERE workspace = ?1 AND deleted = 1 AND seq <= ?2
        AND (collection IN (SELECT value FROM json_each(?3))) = ?4
        AND NOT (?4 AND EXISTS (
            SELECT 1
            FROM sync_record AS o
            WHERE o.id = r.id AND o.workspace = ?1 AND o.deleted = 0
            AND o.collection IN (SELECT value FROM json_each(?3))
        ))
        ORDER BY seq
        LIMIT ?5
        """

    static let record = "SELECT collection, id, scope, place, seq, born, deleted FROM sync_record WHERE row = ?"

    /// All records of the scope are filed before.
    static let scopeRows = "SELECT row FROM sync_feed WHERE place = ? ORDER BY seq LIMIT ?"

    static let deleteRecord = "DELETE FROM sync_record WHERE row = ?"
    static let deleteFeed = "DELETE FROM sync_feed WHERE place = ? AND seq = ?"
    static let deletePage = "DELETE FROM sync_page WHERE place = ? AND collection = ? AND born = ?"
    static let deleteLedger = "DELETE FROM sync_ledger WHERE workspace = ? AND collection = ? AND id = ?"

    /// SQLite reuses the number of the last row once that row is deleted: the next row must not be treated as filed.
    static let lowerFiling = """
        UPDATE sync_filing
        SET through = (SELECT coalesce(max(row), 0) FROM sync_record)
        WHERE through > (SELECT coalesce(max(row), 0) FROM sync_record)
        """

    static let deleteBatches = """
        DELETE FROM sync_batch
        WHERE rowid IN (SELECT rowid FROM sync_batch WHERE workspace = ?1 AND seq < ?2 ORDER BY seq LIMIT ?3)
        """

    /// The marks of erased scopes whose tombstones are behind the horizon as well.
    static let deleteMarks = """
        DELETE FROM sync_erasure
        WHERE workspace = ?1 AND ended IS NOT NULL AND through <= ?2
        """

    static let countTombstones = "SELECT count(*) FROM sync_record WHERE workspace = ? AND deleted = 1 AND seq <= ?"
    static let countBatches = "SELECT count(*) FROM sync_batch WHERE workspace = ? AND seq < ?"

    static let clients = """
        SELECT c.workspace, c.client, c.user, max(c.seen, c.registered), c.settled > c.acked, w.keep
        FROM sync_client AS c
        LEFT JOIN sync_workspace AS w ON w.workspace = c.workspace
        WHERE (c.workspace, c.client) > (?1, ?2)
        ORDER BY c.workspace, c.client
        LIMIT ?3
        """
}
