import GRDB
package import TidemarkModel

extension LocalDatabase {
    /// All parked transactions, oldest first.
    package func parked() throws -> [StoredParked] {
        try writer.read { db in try Parking(db: db).parked() }
    }

    /// Sends a parked transaction's payload again.
    ///
    /// One whose number still awaits the server's word goes back to its place; any other is written anew under `newID`.
    ///
    /// - Returns: the id whose receipt tells how it goes on.
    /// - Throws: `StoreError` with `notFound`, or `refused` when the payload no longer applies; it then stays parked.
    @discardableResult
    package func retryParked(_ id: TransactionID, newID: TransactionID) throws -> TransactionID {
        try change { db in try retryParked(id, newID: newID, db) }
    }

    func retryParked(_ id: TransactionID, newID: TransactionID, _ db: Database) throws -> TransactionID {
        let parking = Parking(db: db)
        let transaction = try parking.parked(id).transaction
        let records = RecordTable(db, self)
        for key in Set(transaction.mutations.map(\.key)) { try records.mark(key, failed: false) }
        try parking.delete(id)
        if let entry = try OutboxTable(db: db).entry(id), entry.state == .held {
            try restore(entry, transaction, records)
            return id
        }
        var draft = try WriteDraft(self, db, time: transaction.clientTime)
        for mutation in transaction.mutations { try draft.stage(mutation) }
        _ = try draft.enqueue(newID, ifSeq: transaction.ifSeq)
        return newID
    }

    /// Gives a parked transaction up.
    ///
    /// - Throws: `StoreError` with `notFound`.
    package func discardParked(_ id: TransactionID) throws {
        try change { db in try discardParked(id, db) }
    }

    func discardParked(_ id: TransactionID, _ db: Database) throws {
        let parking = Parking(db: db)
        let records = RecordTable(db, self)
        for key in Set(try parking.parked(id).transaction.mutations.map(\.key)) {
            try records.mark(key, failed: false)
        }
        try parking.delete(id)
    }

    private func restore(_ entry: OutboxEntry, _ transaction: Transaction, _ records: RecordTable) throws {
        let outbox = OutboxTable(db: records.db)
        try outbox.set(.sending, entry.number)
        var rebase = Rebase(records: records)
        for mutation in transaction.mutations {
            let collection = try table(mutation.key.collection).collection
            var base = try records.base(mutation.key) ?? records.visible(mutation.key)
            if base == nil {
                let scope = ScopeID(record: mutation.key.id)
                var absent = LocalRecord(absent: mutation.key, scope: scope, author: account, created: entry.created)
                let created = absent.folding([mutation], in: collection)
                absent.scope = created.scope
                base = absent
            }
            guard let base else { continue }
            try records.saveBase(base)
            try outbox.link(mutation.key, scope: base.scope, number: entry.number)
            rebase.touch(mutation.key)
        }
        try rebase.finish()
    }
}
