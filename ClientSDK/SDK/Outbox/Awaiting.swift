import GRDB
import TidemarkModel

/// Parked transactions that were written before the server's database went back, and need a record or a scope that was
/// lost with it. The device that created it brings it back; then they are sent again automatically, once. Works inside
/// one SQLite transaction.
struct Awaiting {
    let db: Database

    /// Returns whether a refusal may only mean that another device has not brought a record back yet.
    func isLikely(_ entry: OutboxEntry, _ rejection: Rejection) throws -> Bool {
        switch rejection.code {
        case .notFound, .forbidden, .revoked: try entry.written <= Meta.rewoundWritten.integer(db) ?? 0
        case .invalid, .gone, .idConflict, .conflict, .tooLarge, .unknownCollection, .unknownOperation, .quota, .rule,
            .internalRejected:
            false
        }
    }

    /// Notes that a parked transaction waits for a record or scope that it needs.
    func mark(_ id: TransactionID, at now: Milliseconds) throws {
        try db.run("UPDATE tidemark_parked SET awaits = ? WHERE id = ?", [now, id.description])
    }

    /// Ends the waiting of transactions that were marked before a time.
    func expire(before time: Milliseconds) throws {
        try db.run("UPDATE tidemark_parked SET awaits = NULL WHERE awaits < ?", [time])
    }

    /// Sends again the transactions whose records and scopes are back. One whose number is being sent without contents
    /// has to be settled first.
    func retry(_ database: LocalDatabase) throws {
        guard try db.exists("SELECT 1 FROM tidemark_parked WHERE awaits IS NOT NULL LIMIT 1") else { return }
        let sql = """
            SELECT p.body
            FROM tidemark_parked AS p
            LEFT JOIN tidemark_outbox AS o ON o.id = p.id
            WHERE p.awaits IS NOT NULL AND o.state IS NOT 'void'
            ORDER BY o.written, p.id
            """
        let records = RecordTable(db, database)
        for row in try db.all(sql) {
            let transaction = try OutboxEntry.transaction(try row.text(0))
            guard try isPossible(transaction, records) else { continue }
            try again(transaction.id, database)
        }
    }

    private func again(_ id: TransactionID, _ database: LocalDatabase) throws {
        do {
            try db.inSavepoint {
                try db.run("UPDATE tidemark_parked SET awaits = NULL WHERE id = ?", [id.description])
                try Journal(db: db).release(id)
                _ = try database.retryParked(id, newID: id, db)
                return .commit
            }
        } catch let error as StoreError {
            // It no longer applies: it stays parked, and nothing of this was written.
            guard case .rejected = error.code else { throw error }
            try db.run("UPDATE tidemark_parked SET awaits = NULL WHERE id = ?", [id.description])
        }
    }

    /// True when the server is known to have every record that is changed, and every scope that is written in.
    private func isPossible(_ transaction: Transaction, _ records: RecordTable) throws -> Bool {
        var created: Set<RecordKey> = []
        var opened: Set<ScopeID> = []
        for mutation in transaction.mutations {
            guard let collection = records.tables[mutation.key.collection]?.collection else { return false }
            switch mutation.action {
            case .create(let fields), .undelete(let fields):
                // An invalid mutation fails as a write of the app would.
                guard let scope = try? collection.scope(of: mutation.key.id, fields: fields) else { return true }
                let opens = collection.scope == .ownRecord
                if opens { opened.insert(scope) }
                guard try opens || opened.contains(scope) || ScopeTable(db: db).held(scope) != nil else { return false }
                created.insert(mutation.key)
            case .update, .delete:
                guard try created.contains(mutation.key) || isKnown(mutation.key, records) else { return false }
            }
        }
        return true
    }

    /// Returns whether the server has the record. Rows from before the rewind have no number until the server sends
    /// them again.
    private func isKnown(_ key: RecordKey, _ records: RecordTable) throws -> Bool {
        let record = try records.base(key) ?? records.visible(key)
        return record.map { $0.seq > 0 && $0.existence == .live } ?? false
    }
}
