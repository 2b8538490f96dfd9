import GRDB
import TidemarkModel

/// The parked transactions with values of `manual` fields that the app has to choose from. Works inside one SQLite
/// transaction.
struct ConflictTable {
    let db: Database

    /// Notes the records of a parked transaction whose `manual` fields are contested.
    func note(_ transaction: Transaction, schema: [String: CollectionTable]) throws {
        for mutation in transaction.mutations {
            guard let collection = schema[mutation.key.collection]?.collection,
                !mutation.manualPatches(in: collection).isEmpty
            else { continue }
            try db.run(
                "INSERT OR IGNORE INTO tidemark_conflict (collection, local_id, id) VALUES (?, ?, ?)",
                [mutation.key.collection, mutation.key.id.description, transaction.id.description])
        }
    }

    /// Notes the records of a transaction that is parked already, and marks their rows.
    func noteParked(_ transaction: Transaction, _ records: RecordTable) throws {
        try note(transaction, schema: records.tables)
        for key in Set(transaction.mutations.map(\.key)) where try holds(key) {
            try records.mark(key, from: [.synced, .failed], to: .conflict)
        }
    }

    func isEmpty() throws -> Bool { try !db.exists("SELECT 1 FROM tidemark_conflict LIMIT 1") }

    func holds(_ key: RecordKey) throws -> Bool {
        try db.exists("SELECT 1 FROM tidemark_conflict WHERE collection = ? AND local_id = ? LIMIT 1", key.arguments)
    }

    /// Returns true when the transaction still has something to choose.
    func holds(_ id: TransactionID) throws -> Bool {
        try db.exists("SELECT 1 FROM tidemark_conflict WHERE id = ? LIMIT 1", [id.description])
    }

    /// Returns the records in conflict, sorted.
    func records() throws -> [RecordKey] {
        try db.all("SELECT DISTINCT collection, local_id FROM tidemark_conflict ORDER BY 1, 2").map { try $0.key(0) }
    }

    /// Returns the parked transactions that take part in the record's conflict, in the order of their writing.
    func transactions(of key: RecordKey) throws -> [Transaction] {
        let sql = """
            SELECT p.body
            FROM tidemark_conflict AS c
            JOIN tidemark_parked AS p ON p.id = c.id
            WHERE c.collection = ? AND c.local_id = ?
            ORDER BY p.parked, p.id
            """
        return try db.all(sql, key.arguments).map { try OutboxEntry.transaction(try $0.text(0)) }
    }

    /// Removes a transaction from the record's conflict, which ends with the last one.
    func settle(_ key: RecordKey, _ id: TransactionID) throws {
        try db.run(
            "DELETE FROM tidemark_conflict WHERE collection = ? AND local_id = ? AND id = ?",
            [key.collection, key.id.description, id.description])
        guard try !holds(key) else { return }
        try db.run(
            "UPDATE \(CollectionTable.quoted(key.collection)) SET state = ? WHERE local_id = ? AND state = ?",
            [RecordState.synced.rawValue, key.id.description, RecordState.conflict.rawValue])
    }

    /// Forgets a transaction that is no longer parked.
    func forget(_ id: TransactionID) throws {
        let keys = try db.all("SELECT collection, local_id FROM tidemark_conflict WHERE id = ?", [id.description])
        for key in try keys.map({ try $0.key(0) }) { try settle(key, id) }
    }
}

extension Mutation {
    /// Returns the patches of `manual` fields.
    func manualPatches(in collection: CollectionSchema) -> [NamedPatch] {
        guard case .update(let patches) = action else { return [] }
        return patches.filter { collection.field($0.field)?.merge == .manual }
    }
}
