import GRDB
import TidemarkModel

/// The last deletions that the server told of, with their numbers: where a database loses them, these records live again and
/// have to be fetched.
struct DeletionLog {
    let db: Database
    /// So many are kept; a quarter more before the oldest go.
    let keptMax: Int

    func note(_ key: RecordKey, scope: ScopeID, seq: SequenceNumber) throws {
        try db.run(
            """
            INSERT INTO tidemark_deletion (collection, local_id, scope, seq) VALUES (?, ?, ?, ?)
            ON CONFLICT (collection, local_id) DO UPDATE SET seq = max(seq, excluded.seq), scope = excluded.scope
            """, [key.collection, key.id.description, scope.text, seq])
    }

    /// Forgets the oldest of too many, and notes up to where none is known any more.
    func trim() throws {
        let count = Int(try db.first("SELECT count(*) FROM tidemark_deletion")?.integer(0) ?? 0)
        guard count > keptMax + keptMax / 4 else { return }
        let oldest = "SELECT seq FROM tidemark_deletion ORDER BY seq DESC LIMIT 1 OFFSET ?"
        guard let through = try db.first(oldest, [keptMax])?.integer(0) else { return }
        try db.run("DELETE FROM tidemark_deletion WHERE seq <= ?", [through])
        try Meta.deletionsThrough.set(through, db)
    }

    /// True when all deletions after a number are known.
    func isComplete(after seq: SequenceNumber) throws -> Bool { try seq >= Meta.deletionsThrough.integer(db) ?? 0 }

    /// Forgets all: what is filled from the start needs none.
    func clear() throws {
        try db.run("DELETE FROM tidemark_deletion")
        try Meta.deletionsThrough.set(0, db)
    }
}
