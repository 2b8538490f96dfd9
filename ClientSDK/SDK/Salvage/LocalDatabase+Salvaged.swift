import GRDB
import TidemarkModel

extension LocalDatabase {
    /// Stores the data saved from a damaged file, under a new client id: the server may have received any part
    /// of it.
    func restore(_ salvaged: Salvaged, newClient: ClientID) throws {
        try change { db in
            for parked in salvaged.parked { try restore(parked, db) }
            let numbered = salvaged.entries.filter { $0.entry.state != .waiting }
            let writes = Dictionary(grouping: salvaged.entries.flatMap(\.transaction.mutations), by: \.key)
            for entry in salvaged.entries { try restore(entry, salvaged.bases, writes, db) }
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

    private func restore(
        _ salvaged: Salvaged.Entry, _ bases: [RecordKey: LocalRecord], _ writes: [RecordKey: [Mutation]], _ db: Database
    ) throws {
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
            var base = try records.base(key) ?? bases[key] ?? absent(key, writes[key] ?? [], entry.created)
            // Any state from the server replaces it.
            base.seq = 0
            try records.saveBase(base)
            try outbox.link(key, scope: base.scope, number: entry.number)
        }
    }

    /// Returns an absent record of which only the writes are known, any of which may name its scope.
    private func absent(_ key: RecordKey, _ writes: [Mutation], _ created: Milliseconds) -> LocalRecord {
        var record = LocalRecord(absent: key, scope: ScopeID(record: key.id), author: account, created: created)
        if let collection = tables[key.collection]?.collection {
            record.scope = record.folding(writes, in: collection).scope
        }
        return record
    }
}
