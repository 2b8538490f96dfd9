import GRDB
import TidemarkModel

/// The writes of extensions that are in the outbox while their files may still be there, inside one SQLite transaction.
struct SpoolTable {
    let db: Database

    var isEmpty: Bool { get throws { try !db.exists("SELECT 1 FROM tidemark_spooled LIMIT 1") } }

    /// Also while only the outcome is known: the file may be older than the database, which was made anew.
    func knows(_ id: TransactionID) throws -> Bool {
        if try db.exists("SELECT 1 FROM tidemark_spooled WHERE id = ?", [id.description]) { return true }
        if try OutboxTable(db: db).entry(id) != nil { return true }
        return try ReceiptTable(db: db).step(id) != nil
    }

    func note(_ id: TransactionID) throws {
        try db.run("INSERT OR IGNORE INTO tidemark_spooled (id) VALUES (?)", [id.description])
    }

    /// Forgets those whose files are gone for good.
    func forget(allBut ids: [TransactionID]) throws {
        let kept = FieldValue.array(ids.map { .string($0.description) }).json
        try db.run("DELETE FROM tidemark_spooled WHERE id NOT IN (SELECT value FROM json_each(?))", [kept])
    }
}
