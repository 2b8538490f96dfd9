import GRDB
import TidemarkModel

/// Settled transactions, kept in case the server's database goes back. Works inside one SQLite transaction.
///
/// An entry stays in its outbox row, under its number: settling it writes a state, and not the body again. The journal
/// is the outbox up to `Meta.ackedThrough`. Entries that another client id of this file had settled have numbers below
/// zero. The reasons are in `Apply/REWIND.md`.
struct Journal {
    let db: Database

    /// The base of the numbers of entries settled under a former client id, in their order.
    static let formerPlace: Int64 = -(1 << 57)

    /// Keeps an accepted entry. If none of its scopes is known any more, since it was given up or its scope was lost
    /// before the server's answer, its contents are removed: they could not be forgotten with the scope.
    ///
    /// - Parameter scopes: the scopes of the records that it writes.
    /// - Returns: the bytes that the journal grows by.
    func keep(_ entry: OutboxEntry, seq: SequenceNumber, time: Milliseconds, scopes: Set<String>) throws -> Int64 {
        try db.run(
            "UPDATE tidemark_outbox SET state = 'settled', seq = ?, settled = ?, scopes = ? WHERE n = ?",
            [seq, time, scopes.sorted().joined(separator: "\n"), entry.number])
        let bytes = Int64(entry.body.utf8.count)
        return scopes.isEmpty ? try bytes + strip(entry) : bytes
    }

    /// Keeps a refused entry: its payload is parked, and its number must be offered again with those behind it.
    func refuse(_ entry: OutboxEntry) throws -> Int64 {
        try OutboxTable(db: db).set(.refused, entry.number)
        return Int64(entry.body.utf8.count)
    }

    /// Keeps the number of an entry that was sent again under another number.
    func keepNumber(of entry: OutboxEntry) throws -> Int64 {
        try OutboxTable(db: db).append(
            Self.standIn(for: entry.id, at: entry.number), number: entry.number, written: entry.written,
            body: entry.body, created: entry.created, state: .refused)
        return Int64(entry.body.utf8.count)
    }

    /// Gives the id of a refused transaction free, so that it can be sent again: the row with its old number gets
    /// another id.
    func release(_ id: TransactionID) throws {
        guard let entry = try OutboxTable(db: db).entry(id), entry.state == .refused else { return }
        try db.run(
            "UPDATE tidemark_outbox SET id = ? WHERE n = ?",
            [Self.standIn(for: id, at: entry.number).description, entry.number])
    }

    /// Returns a substitute id, always the same for the same entry.
    private static func standIn(for id: TransactionID, at number: Int64) -> TransactionID {
        UniqueID(high: ~id.high ^ UInt64(bitPattern: number), low: id.low)
    }

    /// Adds empty entries for numbers that were trimmed, to be offered before those that are still in the journal.
    ///
    /// - Throws: `StoreError` with `serverForgot` when there are too many.
    func fill(_ numbers: ClosedRange<Int64>, client: ClientID, at now: Milliseconds) throws {
        guard numbers.count <= Self.gapMax else {
            throw StoreError(
                .serverForgot, "the server lost \(numbers.count) transactions of this client that are not kept here")
        }
        for number in numbers {
            let id = Self.standIn(for: client, at: number)
            let body = OutboxEntry.text(.bare(id, at: now))
            try OutboxTable(db: db).append(id, number: number, written: 0, body: body, created: now, state: .void)
        }
    }

    private static let gapMax = 10_000

    func grow(by bytes: Int64) throws {
        guard bytes != 0 else { return }
        try Meta.journalBytes.set(max(0, (Meta.journalBytes.integer(db) ?? 0) + bytes), db)
    }

    /// Drops entries that are durable, or were settled too long ago.
    ///
    /// - Parameters:
    ///   - durable: the number of the order up to which the server's data is safe; `nil` if it does not say.
    ///   - time: the server time before which settled entries are dropped in any case.
    func trim(through durable: SequenceNumber?, before time: Milliseconds) throws {
        // Numbers and times rise with the entries, so the first that stays ends the search. Refused entries have
        // neither and are dropped along; an entry whose payload went with a lost scope has both.
        let sql = """
            SELECT n FROM tidemark_outbox
            WHERE n <= ?1 AND seq > ?2 AND settled > ?3
            ORDER BY n LIMIT 1
            """
        let last = try Meta.ackedThrough.integer(db) ?? 0
        let stays = try db.first(sql, [last, durable ?? -1, time])?.integer(0) ?? last + 1
        try drop(below: stays)
    }

    /// Drops the oldest entries when the journal is too large, and an eighth more, so that this is not needed again
    /// soon.
    func bound(to bytesMax: Int64) throws {
        guard let held = try Meta.journalBytes.integer(db), held > bytesMax else { return }
        var excess = held - bytesMax + bytesMax / 8
        let last = try Meta.ackedThrough.integer(db) ?? 0
        let sql = "SELECT n, length(CAST(body AS BLOB)) FROM tidemark_outbox WHERE n <= ? ORDER BY n"
        let cursor = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: [last])
        var stays = last + 1
        while let row = try cursor.next() {
            guard excess > 0 else {
                stays = try row.integer(0)
                break
            }
            excess -= try row.integer(1)
        }
        try drop(below: stays)
    }

    private func drop(below stays: Int64) throws {
        let going = "FROM tidemark_outbox WHERE n < ?"
        guard let row = try db.first("SELECT count(*), sum(length(CAST(body AS BLOB))) \(going)", [stays]),
            try row.integer(0) > 0
        else { return }
        let counts = try OutboxCounts(db)
        try db.run("DELETE \(going)", [stays])
        try counts.keep(db)
        try grow(by: -row.integer(1))
    }

    /// Returns the entries above a number of this client's, in order.
    func entries(above number: Int64) throws -> [OutboxEntry] {
        let sql = """
            SELECT \(OutboxEntry.columns) FROM tidemark_outbox
            WHERE n > ? AND n <= ? AND n > 0
            ORDER BY n
            """
        let last = try Meta.ackedThrough.integer(db) ?? 0
        return try db.all(sql, [number, last]).map { try OutboxEntry($0) }
    }

    /// Returns the accepted entries up to a client number whose number of the order is `seq` or higher.
    func entries(through number: Int64, lostFrom seq: SequenceNumber) throws -> [OutboxEntry] {
        let sql = """
            SELECT \(OutboxEntry.columns) FROM tidemark_outbox
            WHERE n > 0 AND n <= ? AND state = 'settled' AND seq >= ?
            ORDER BY n
            """
        return try db.all(sql, [number, seq]).map { try OutboxEntry($0) }
    }

    /// Returns the entries that a former client id had settled from a number of the order on. If the copy goes back to
    /// before the last former id was registered, all entries of that id are returned.
    ///
    /// - Parameters:
    ///   - end: the number of the past cursor that the copy goes back to; 0 for none.
    ///   - time: the server time before which settled entries are not kept any more.
    func former(from seq: SequenceNumber, end: Int64, after time: Milliseconds) throws -> [OutboxEntry] {
        // If the server does not know the client, and none of its past cursors is left, it was registered in the lost
        // part. Everything that it wrote was written after that.
        let isUnregistered = try Meta.formerPast.integer(db).map { end < $0 } ?? false
        let written = try isUnregistered ? Meta.formerWritten.integer(db) ?? .max : .max
        let sql = """
            SELECT \(OutboxEntry.columns) FROM tidemark_outbox
            WHERE n < 0 AND (seq >= ? OR written >= ?) AND settled > ?
            ORDER BY n
            """
        return try db.all(sql, [seq, written, time]).map { try OutboxEntry($0) }
    }

    /// Notes the first past cursor that proves this client id's registration. The next cursor proves it if the id is
    /// new and its first transaction was settled, or if the copy went back.
    func notePast(isNew: Bool) throws {
        let next = try PastCursors(db: db).next()
        let first = try isNew ? next : min(next, Meta.registeredPast.integer(db) ?? 1)
        try Meta.registeredPast.set(first, db)
    }

    /// Frees the numbers for another client id.
    ///
    /// - Parameter isCopy: true when another installation holds the same journal and offers it; it is then deleted
    ///   here.
    /// - Returns: the entries that are known to be lost, unchanged; all others are moved out of the way or deleted.
    func leave(isCopy: Bool) throws -> [OutboxEntry] {
        let lostAbove = try Meta.lostAbove.integer(db) ?? .max
        try db.run("DELETE FROM tidemark_meta WHERE key = ?", [Meta.lostAbove.rawValue])
        let last = try Meta.ackedThrough.integer(db) ?? 0
        try db.run("DELETE FROM tidemark_outbox WHERE n > 0 AND n <= ? AND state = 'refused'", [last])
        if isCopy {
            try db.run("DELETE FROM tidemark_outbox WHERE n <= ? AND state = 'settled'", [last])
        } else {
            let kept = "n > 0 AND n <= ? AND state = 'settled'"
            let limit = min(last, lostAbove)
            let first = try db.first("SELECT min(written) FROM tidemark_outbox WHERE \(kept)", [limit])
            try Meta.formerWritten.set(first?.optionalInteger(0) ?? .max, db)
            // For a client id that the server still knows, its registration is unknown.
            try Meta.formerPast.set(lostAbove == .max ? Meta.registeredPast.integer(db) ?? 0 : 0, db)
            try db.run("UPDATE tidemark_outbox SET n = written + ? WHERE \(kept)", [Self.formerPlace, limit])
        }
        return try entries(above: 0)
    }

    /// Recomputes the journal's size after entries were deleted or moved.
    func recount() throws {
        let sql = """
            SELECT sum(length(CAST(body AS BLOB))) FROM tidemark_outbox WHERE state IN ('settled', 'refused')
            """
        try Meta.journalBytes.set(db.first(sql)?.optionalInteger(0) ?? 0, db)
    }

    /// Removes the contents that a lost scope's records were written with. Numbers stay. An entry that only deletes
    /// contains no more than ids, and stays whole: the user who deletes a scope's own record loses the scope by it.
    func forget(_ scope: ScopeID) throws {
        let sql = """
            SELECT \(OutboxEntry.columns) FROM tidemark_outbox
            WHERE state = 'settled' AND instr(char(10) || scopes || char(10), char(10) || ? || char(10)) > 0
            """
        var bytes: Int64 = 0
        for row in try db.all(sql, [scope.text]) { bytes += try strip(OutboxEntry(row)) }
        try grow(by: bytes)
    }

    /// Removes the contents of an entry.
    ///
    /// - Returns: the bytes by which the entry grew.
    private func strip(_ entry: OutboxEntry) throws -> Int64 {
        guard try entry.transaction().mutations.contains(where: { $0.action != .delete }) else { return 0 }
        let body = OutboxEntry.text(.bare(entry.id, at: entry.created))
        try db.run(
            "UPDATE tidemark_outbox SET state = 'refused', body = ?, scopes = NULL WHERE n = ?", [body, entry.number])
        return Int64(body.utf8.count) - Int64(entry.body.utf8.count)
    }
}

extension Transaction {
    /// The body of an entry whose contents are not kept. It is never sent: only the entry's number is.
    static func bare(_ id: TransactionID, at time: Milliseconds) -> Transaction {
        let nothing = Mutation(key: RecordKey(collection: "gone", id: id), action: .delete)
        return Transaction(id: id, mutations: [nothing], clientTime: time)
    }

    /// True for a body that stands for contents that are not kept.
    var isBare: Bool { self == .bare(id, at: clientTime) }
}
