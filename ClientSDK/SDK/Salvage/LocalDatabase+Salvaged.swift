import GRDB
import TidemarkModel

extension LocalDatabase {
    /// Takes in what was saved of a damaged file, under a new client id: the server may have seen any part of it.
    func restore(_ salvaged: Salvaged, newClient: ClientID) throws {
        try change { db in
            for parked in salvaged.parked { try restore(parked, db) }
            let numbered = salvaged.entries.filter { $0.entry.state != .waiting }
            for entry in salvaged.entries { try restore(entry, salvaged, db) }
            try OutboxCounts(
                number: numbered.map(\.entry.number).max() ?? 0,
                written: salvaged.entries.map(\.entry.written).max() ?? 0
            ).keep(db)
            try fork(newClient: newClient, isCopy: false, db)
            var rebase = Rebase(records: RecordTable(db, self))
            for key in Set(salvaged.entries.flatMap { $0.transaction.mutations.map(\.key) }) { rebase.touch(key) }
            try rebase.finish()
        }
    }

    private func restore(_ parked: StoredParked, _ db: Database) throws {
        let id = parked.transaction.id
        try db.run(
            "INSERT OR IGNORE INTO tidemark_parked (id, body, code, message, parked) VALUES (?, ?, ?, ?, ?)",
            [
                id.description, OutboxEntry.text(parked.transaction), parked.rejection.code.rawValue,
                parked.rejection.message, parked.parked,
            ])
        try ReceiptTable(db: db).park(id, parked.rejection)
    }

    private func restore(_ salvaged: Salvaged.Entry, _ all: Salvaged, _ db: Database) throws {
        let (entry, outbox) = (salvaged.entry, OutboxTable(db: db))
        try outbox.append(
            entry.id, number: entry.number, written: entry.written, body: entry.body, created: entry.created,
            state: entry.state)
        switch entry.state {
        case .held, .void, .settled, .refused: return
        case .queued, .sending, .reoffered, .withdrawn, .waiting: break
        }
        let records = RecordTable(db, self)
        for mutation in salvaged.transaction.mutations {
            let key = mutation.key
            var base = try records.base(key) ?? all.bases[key] ?? absent(mutation, entry)
            // Whatever the server says of it counts.
            base.seq = 0
            try records.saveBase(base)
            try outbox.link(key, scope: base.scope, number: entry.number)
        }
    }

    /// A record that nothing is known of but the write.
    private func absent(_ mutation: Mutation, _ entry: OutboxEntry) -> LocalRecord {
        let own = ScopeID(record: mutation.key.id)
        var record = LocalRecord(absent: mutation.key, scope: own, author: account, created: entry.created)
        if let collection = tables[mutation.key.collection]?.collection {
            record.scope = record.folding([mutation], in: collection).scope
        }
        return record
    }
}
