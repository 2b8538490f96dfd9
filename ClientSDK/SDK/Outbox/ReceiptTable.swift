import GRDB
import TidemarkModel

/// The outcome of every transaction written here; survives a restart.
///
/// Until its outcome is known, a transaction's outbox row holds its step: a write has one row less to make durable.
struct ReceiptTable {
    let db: Database

    func commit(_ id: TransactionID, seq: SequenceNumber, time: Milliseconds) throws {
        try db.run(
            "INSERT OR REPLACE INTO tidemark_receipt (id, state, seq, time) VALUES (?, 'committed', ?, ?)",
            [id.description, seq, time])
    }

    func park(_ id: TransactionID, _ rejection: Rejection) throws {
        try db.run(
            "INSERT OR REPLACE INTO tidemark_receipt (id, state, code, message) VALUES (?, 'parked', ?, ?)",
            [id.description, rejection.code.rawValue, rejection.message])
    }

    /// Returns the common step of several transactions that are one write; `nil` when none of them is known.
    func step(_ ids: [TransactionID]) throws -> WriteStep? {
        let known = try ids.map { try step($0) }
        guard known.count > 1 else { return known.first ?? nil }
        guard known.contains(where: { $0 != nil }) else { return nil }
        // A transaction that is not known any more was committed long ago.
        let steps = known.map { $0 ?? .committed(seq: 0, time: 0) }
        guard steps.allSatisfy(\.isFinal) else { return steps.allSatisfy { $0 == .queued } ? .queued : .sending }
        var last = WriteStep.committed(seq: 0, time: 0)
        for step in steps {
            switch step {
            case .rejected: return step
            case .committed(let seq, let time):
                if case .committed(let before, _) = last, seq > before { last = .committed(seq: seq, time: time) }
            case .queued, .sending, .resending: break
            }
        }
        return last
    }

    /// Returns the step of a transaction; `nil` if it is unknown, or was committed long ago.
    func step(_ id: TransactionID) throws -> WriteStep? {
        // One statement, so that an observer of a step is notified about both tables.
        let sql = """
            SELECT coalesce(o.state, r.state), r.seq, r.time, r.code, r.message
            FROM (SELECT ? AS id) AS asked
            LEFT JOIN tidemark_outbox AS o ON o.id = asked.id AND o.state NOT IN ('held', 'void', 'settled', 'refused')
            LEFT JOIN tidemark_receipt AS r ON r.id = asked.id
            """
        guard let row = try db.first(sql, [id.description]), let state = try row.optionalText(0) else { return nil }
        switch state {
        case "queued", "waiting": return .queued
        case "sending", "withdrawn": return .sending
        case "reoffered": return .resending
        case "committed": return .committed(seq: try row.integer(1), time: try row.integer(2))
        case "parked":
            // A newer server's code, unknown to this SDK, was stored as the code that replaces it.
            let code = RejectionCode(rawValue: try row.text(3)) ?? .internalRejected
            return .rejected(Rejection(code, try row.text(4)))
        default: throw StoreError(.corrupt, "a receipt has no valid state")
        }
    }
}
