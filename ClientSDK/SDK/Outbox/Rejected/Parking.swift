import GRDB
import TidemarkModel

/// Moves transactions between the outbox and the parked ones, inside one SQLite transaction.
struct Parking {
    let db: Database

    /// Parks an unsettled entry; returns the records that must be shown anew.
    func park(_ entry: OutboxEntry, _ rejection: Rejection, at now: Milliseconds) throws -> [RecordKey] {
        try keep(entry.id, entry.body, rejection, at: now)
        return try OutboxTable(db: db).unlink(entry.transaction(), number: entry.number).map(\.key)
    }

    /// Parks a transaction that never was in the outbox.
    func park(_ transaction: Transaction, _ rejection: Rejection, at now: Milliseconds) throws {
        try keep(transaction.id, OutboxEntry.text(transaction), rejection, at: now)
    }

    private func keep(_ id: TransactionID, _ body: String, _ rejection: Rejection, at now: Milliseconds) throws {
        try db.run(
            """
            INSERT OR REPLACE INTO tidemark_parked (id, body, code, message, parked)
            VALUES (?, ?, ?, ?, ?)
            """, [id.description, body, rejection.code.rawValue, rejection.message, now])
        try ReceiptTable(db: db).park(id, rejection)
    }

    func parked() throws -> [StoredParked] {
        try db.all("SELECT body, code, message, parked FROM tidemark_parked ORDER BY parked, id").map(stored)
    }

    func parked(_ id: TransactionID) throws -> StoredParked {
        let sql = "SELECT body, code, message, parked FROM tidemark_parked WHERE id = ?"
        guard let row = try db.first(sql, [id.description]) else {
            throw StoreError(.notFound, "no transaction \(id) is parked")
        }
        return try stored(row)
    }

    /// Replaces the payload of a parked transaction by what is left of it.
    func rewrite(_ transaction: Transaction) throws {
        try db.run(
            "UPDATE tidemark_parked SET body = ? WHERE id = ?",
            [OutboxEntry.text(transaction), transaction.id.description])
    }

    /// Replaces the reason for which a transaction is parked.
    func rewrite(_ id: TransactionID, _ rejection: Rejection) throws {
        try db.run(
            "UPDATE tidemark_parked SET code = ?, message = ? WHERE id = ?",
            [rejection.code.rawValue, rejection.message, id.description])
        try ReceiptTable(db: db).park(id, rejection)
    }

    func delete(_ id: TransactionID) throws {
        try ConflictTable(db: db).forget(id)
        try db.run("DELETE FROM tidemark_parked WHERE id = ?", [id.description])
    }

    func stored(_ row: Row) throws -> StoredParked {
        StoredParked(
            transaction: try OutboxEntry.transaction(try row.text(0)),
            rejection: Rejection(RejectionCode(rawValue: try row.text(1)) ?? .internalRejected, try row.text(2)),
            parked: try row.integer(3))
    }
}
