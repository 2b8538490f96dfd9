import GRDB
package import TidemarkModel

extension LocalDatabase {
    /// Returns all parked transactions, oldest first.
    package func parked() throws -> [StoredParked] {
        try writer.read { db in try Parking(db: db).parked() }
    }

    /// Sends a parked transaction's payload again.
    ///
    /// If the outcome of its number is still to come, it continues under that number. Any other is written anew under
    /// `newID`, with the marks of its first writing: values that it may overwrite were not seen. If it writes nothing
    /// but contested fields, the app has to choose: it stays parked as a conflict. Otherwise the server settles the
    /// rest.
    ///
    /// - Returns: the id whose receipt reports the progress.
    /// - Throws: `StoreError` with `notFound`, or `refused` when the payload no longer applies; it then stays parked.
    @discardableResult
    package func retryParked(_ id: TransactionID, newID: TransactionID) throws -> TransactionID {
        try change { db in try retryParked(id, newID: newID, db) }
    }

    func retryParked(_ id: TransactionID, newID: TransactionID, _ db: Database) throws -> TransactionID {
        let parking = Parking(db: db)
        let transaction = try parking.parked(id).transaction
        let records = RecordTable(db, self)
        let entry = try OutboxTable(db: db).entry(id)
        let isHeld = entry?.state == .held
        if !isHeld, let rejection = try contest(over: transaction, records) {
            try parking.rewrite(id, rejection)
            try ConflictTable(db: db).noteParked(transaction, records)
            return id
        }
        for key in Set(transaction.mutations.map(\.key)) { try records.mark(key, failed: false) }
        try parking.delete(id)
        if isHeld, let entry {
            try restore(entry, transaction, records)
            return id
        }
        var draft = try WriteDraft(self, db, time: transaction.clientTime)
        for mutation in transaction.mutations { try draft.stage(mutation, isAgain: true) }
        _ = try draft.enqueue(newID, ifSeq: transaction.ifSeq)
        return newID
    }

    /// Returns the reason not to send the payload again: every field that it writes is contested by the records shown
    /// here.
    private func contest(over transaction: Transaction, _ records: RecordTable) throws -> Rejection? {
        var shown: [RecordKey: LocalRecord] = [:]
        var rejection: Rejection?
        for mutation in transaction.mutations {
            guard case .update(let patches) = mutation.action, let table = tables[mutation.key.collection],
                var record = try shown[mutation.key] ?? records.visible(mutation.key)
            else { return nil }
            let contested: [String]
            // Any other error is reported when the mutation is staged.
            do { contested = try record.apply(mutation, in: table.collection) } catch { return nil }
            guard contested.count == patches.count, let field = contested.first else { return nil }
            rejection = rejection ?? RecordMerge.contested(field, in: table.collection)
            shown[mutation.key] = record
        }
        return rejection
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
