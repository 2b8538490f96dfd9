import GRDB
import TidemarkModel

/// The extensions' writes that were adopted, while their files may still exist. Works inside one SQLite transaction.
struct SpoolTable {
    let db: Database

    var isEmpty: Bool { get throws { try !db.exists("SELECT 1 FROM tidemark_spooled LIMIT 1") } }

    /// Returns whether a write was adopted. The outbox and the receipts are checked too: the file may be older than a
    /// database that was made anew.
    func knows(_ id: TransactionID) throws -> Bool {
        if try db.exists("SELECT 1 FROM tidemark_spooled WHERE id = ?", [id.description]) { return true }
        if try OutboxTable(db: db).entry(id) != nil { return true }
        return try ReceiptTable(db: db).step(id) != nil
    }

    func note(_ id: TransactionID) throws {
        try db.run("INSERT OR IGNORE INTO tidemark_spooled (id) VALUES (?)", [id.description])
    }

    /// Forgets the ids whose files are certainly gone.
    func forget(allBut ids: [TransactionID]) throws {
        let kept = FieldValue.array(ids.map { .string($0.description) }).json
        try db.run("DELETE FROM tidemark_spooled WHERE id NOT IN (SELECT value FROM json_each(?))", [kept])
    }
}
