import GRDB
import TidemarkModel

/// What became of every transaction written here; survives a restart.
struct ReceiptTable {
    let db: Database

    func queue(_ id: TransactionID, number: Int64) throws {
        try db.run(
            "INSERT OR REPLACE INTO tidemark_receipt (id, n, state) VALUES (?, ?, 'queued')", [id.description, number])
    }

    func commit(_ id: TransactionID, seq: SequenceNumber, time: Milliseconds) throws {
        try db.run(
            """
            UPDATE tidemark_receipt
            SET state = 'committed', seq = ?, time = ?, code = NULL, message = NULL
            WHERE id = ?
            """, [seq, time, id.description])
    }

    func park(_ id: TransactionID, _ rejection: Rejection) throws {
        try db.run(
            "UPDATE tidemark_receipt SET state = 'parked', code = ?, message = ? WHERE id = ?",
            [rejection.code.rawValue, rejection.message, id.description])
    }

    func reopen(_ id: TransactionID, _ state: OutboxEntry.State) throws {
        try db.run(
            "UPDATE tidemark_receipt SET state = ?, code = NULL, message = NULL WHERE id = ?",
            [state.rawValue, id.description])
    }

    func step(_ id: TransactionID) throws -> WriteStep? {
        let sql = "SELECT state, seq, time, code, message FROM tidemark_receipt WHERE id = ?"
        guard let row = try db.first(sql, [id.description]) else { return nil }
        switch try row.text(0) {
        case "queued": return .queued
        case "sending": return .sending
        case "committed": return .committed(seq: try row.integer(1), time: try row.integer(2))
        case "parked":
            // A code from a newer server than this SDK was stored under the one that stands for it.
            let code = RejectionCode(rawValue: try row.text(3)) ?? .internalRejected
            return .parked(Rejection(code, try row.text(4)))
        default: throw StoreError(.corrupt, "a receipt has no valid state")
        }
    }
}
