import GRDB
import TidemarkModel

/// The rows of the outbox, and the records that they write.
struct OutboxTable {
    let db: Database

    /// The condition for entries to be settled. The entries before them are the journal, which may be long: use this
    /// wherever the outbox is read as a whole.
    static let isPending =
        "n > coalesce((SELECT value FROM tidemark_meta WHERE key = 'acked_through'), 0)"

    func append(
        _ id: TransactionID, number: Int64, written: Int64, body: String, created: Milliseconds,
        state: OutboxEntry.State = .queued
    ) throws {
        try db.run(
            "INSERT INTO tidemark_outbox (n, id, written, body, created, state) VALUES (?, ?, ?, ?, ?, ?)",
            [number, id.description, written, body, created, state.rawValue])
    }

    /// Gives an entry another number and state, and updates its links to records.
    func move(_ entry: OutboxEntry, to number: Int64, _ state: OutboxEntry.State) throws {
        try OutboxCounts.keeping(entry.number, db) {
            try db.run(
                "UPDATE tidemark_outbox SET n = ?, state = ? WHERE n = ?", [number, state.rawValue, entry.number])
        }
        try relink(entry.transaction().mutations, from: entry.number, to: number, isWithheld: state.isWithheld)
    }

    /// Keeps an entry from being sent, under its number.
    func withdraw(_ number: Int64, _ mutations: [Mutation]) throws {
        try set(.withdrawn, number)
        try relink(mutations, from: number, to: number, isWithheld: true)
    }

    /// Notes that the transaction writes the record; noting it twice is harmless.
    func link(_ key: RecordKey, scope: ScopeID, number: Int64) throws {
        try db.run(Self.linkSQL, StatementArguments(Self.values(link: key, scope: scope, number: number)))
    }

    private static let insertLink =
        "INSERT OR IGNORE INTO tidemark_outbox_record (collection, local_id, n, scope) VALUES"
    private static let linkSQL = ManyRows.statement(insertLink, columns: 4)
    static let linksSQL = ManyRows.statements(insertLink, columns: 4)

    /// The values in the order of `linksSQL`.
    static func values(link key: RecordKey, scope: ScopeID, number: Int64) -> [DatabaseValue] {
        [
            key.collection.databaseValue, key.id.description.databaseValue, number.databaseValue,
            scope.text.databaseValue,
        ]
    }

    /// Moves a transaction's links to another number.
    ///
    /// - Parameter isWithheld: whether its new state is withheld; withheld ones are found by their scopes.
    func relink(_ mutations: [Mutation], from old: Int64, to number: Int64, isWithheld: Bool) throws {
        let sql = """
            UPDATE tidemark_outbox_record SET n = ?, withheld = ? WHERE collection = ? AND local_id = ? AND n = ?
            """
        for key in Set(mutations.map(\.key)) {
            try db.run(sql, [number, isWithheld, key.collection, key.id.description, old])
        }
    }

    /// Removes the transaction from the records that it writes, and returns those that were linked, with their scopes.
    func unlink(_ transaction: Transaction, number: Int64) throws -> [(key: RecordKey, scope: String)] {
        let links = try links(of: transaction, number: number)
        for (key, _) in links {
            try RecordTable.keepBase(key, db)
            try db.run(
                "DELETE FROM tidemark_outbox_record WHERE collection = ? AND local_id = ? AND n = ?",
                [key.collection, key.id.description, number])
        }
        return links
    }

    /// Returns the records that the transaction is linked to, with their scopes.
    func links(of transaction: Transaction, number: Int64) throws -> [(key: RecordKey, scope: String)] {
        let sql = "SELECT scope FROM tidemark_outbox_record WHERE collection = ? AND local_id = ? AND n = ?"
        return try Set(transaction.mutations.map(\.key)).sorted().compactMap { key in
            let values: StatementArguments = [key.collection, key.id.description, number]
            guard let scope = try db.first(sql, values)?.text(0) else { return nil }
            return (key, scope)
        }
    }

    func delete(_ number: Int64) throws {
        try OutboxCounts.keeping(number, db) { try db.run("DELETE FROM tidemark_outbox WHERE n = ?", [number]) }
    }

    func set(_ state: OutboxEntry.State, _ number: Int64) throws {
        try db.run("UPDATE tidemark_outbox SET state = ? WHERE n = ?", [state.rawValue, number])
    }

    func entry(_ id: TransactionID) throws -> OutboxEntry? {
        try db.first("SELECT \(OutboxEntry.columns) FROM tidemark_outbox WHERE id = ?", [id.description])
            .map { try OutboxEntry($0) }
    }

    /// Returns the number of entries that are written and not settled.
    func pendingCount() throws -> Int {
        let sql = """
            SELECT count(*) FROM tidemark_outbox
            WHERE \(Self.isPending) AND state IN ('queued', 'sending', 'reoffered')
            """
        return try Int(db.first(sql)?.integer(0) ?? 0)
    }

    /// Returns the number of entries that wait without a wire number.
    func waitingCount() throws -> Int64 {
        try db.first("SELECT count(*) FROM tidemark_outbox WHERE n >= \(Withholding.firstWaitingNumber)")?.integer(0)
            ?? 0
    }

    /// Returns whether there is an entry after the number, ignoring those that wait without one.
    func hasEntries(after number: Int64) throws -> Bool {
        try db.exists(
            """
            SELECT 1 FROM tidemark_outbox
            WHERE n > ? AND n < \(Withholding.firstWaitingNumber) AND \(Self.isPending)
            LIMIT 1
            """, [number])
    }

    /// Returns the entries to settle after one number and up to another, in order, without those that wait without a
    /// number.
    func entries(after: Int64 = 0, through: Int64 = .max, limit: Int64 = .max) throws -> [OutboxEntry] {
        let sql = """
            SELECT \(OutboxEntry.columns) FROM tidemark_outbox
            WHERE n > ? AND n <= ? AND n < \(Withholding.firstWaitingNumber) AND \(Self.isPending)
            ORDER BY n
            LIMIT ?
            """
        return try db.all(sql, [after, through, limit]).map { try OutboxEntry($0) }
    }

    /// Returns the unsettled entries that write records of a scope. Scans everything pending: that is little, and an
    /// index would slow each write.
    func entries(touching scope: ScopeID) throws -> [OutboxEntry] {
        let sql = """
            SELECT \(OutboxEntry.columns) FROM tidemark_outbox
            WHERE n IN (SELECT n FROM tidemark_outbox_record WHERE scope = ?)
            ORDER BY n
            """
        return try db.all(sql, [scope.text]).map { try OutboxEntry($0) }
    }
}
