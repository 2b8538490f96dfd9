import GRDB
import TidemarkModel

/// The last deletions that the server sent, with their numbers. If a database loses them, these records live again and
/// have to be fetched.
struct DeletionLog {
    let db: Database
    /// The number of deletions kept; a quarter more are allowed before the oldest are dropped.
    let keptMax: Int

    func note(_ key: RecordKey, scope: ScopeID, seq: SequenceNumber) throws {
        try db.run(
            """
            INSERT INTO tidemark_deletion (collection, local_id, scope, seq) VALUES (?, ?, ?, ?)
            ON CONFLICT (collection, local_id) DO UPDATE SET seq = max(seq, excluded.seq), scope = excluded.scope
            """, [key.collection, key.id.description, scope.text, seq])
    }

    /// Drops the oldest when there are too many, and notes the number up to which deletions are forgotten.
    func trim() throws {
        let count = Int(try db.first("SELECT count(*) FROM tidemark_deletion")?.integer(0) ?? 0)
        guard count > keptMax + keptMax / 4 else { return }
        let oldest = "SELECT seq FROM tidemark_deletion ORDER BY seq DESC LIMIT 1 OFFSET ?"
        guard let through = try db.first(oldest, [keptMax])?.integer(0) else { return }
        try db.run("DELETE FROM tidemark_deletion WHERE seq <= ?", [through])
        try Meta.deletionsThrough.set(through, db)
    }

    /// Returns true when all deletions after a number are known.
    func isComplete(after seq: SequenceNumber) throws -> Bool { try seq >= Meta.deletionsThrough.integer(db) ?? 0 }

    /// Returns whether the record was deleted after a number; `nil` when not all such deletions are known any more.
    func isDeleted(_ key: RecordKey, after seq: SequenceNumber) throws -> Bool? {
        let sql = "SELECT 1 FROM tidemark_deletion WHERE collection = ? AND local_id = ? AND seq > ?"
        if try db.exists(sql, [key.collection, key.id.description, seq]) { return true }
        return try isComplete(after: seq) ? false : nil
    }

    /// Forgets all deletions: a copy that is filled from the start needs none.
    func clear() throws {
        try db.run("DELETE FROM tidemark_deletion")
        try Meta.deletionsThrough.set(0, db)
    }
}
