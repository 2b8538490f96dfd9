import GRDB
import TidemarkModel

/// Transactions that are settled, kept for the case that the server's database goes back; inside one SQLite transaction.
///
/// An entry stays in its row of the outbox, under its number: to settle it writes a state, and no body again. The outbox up to
/// `Meta.ackedThrough` is the journal. What another client id of this file had settled has numbers below zero. Why so:
/// `Apply/REWIND.md`.
struct Journal {
    let db: Database

    /// Places of what was settled under a former client id, in its order.
    static let formerPlace: Int64 = -(1 << 57)

    /// An entry that was accepted. One of which no scope is known any more, since it was given up or its scope was lost before the
    /// server's answer, is kept without its contents: they could not be forgotten with the scope.
    ///
    /// - Parameter scopes: those of the records that it writes.
    /// - Returns: the bytes that it holds here.
    func keep(_ entry: OutboxEntry, seq: SequenceNumber, time: Milliseconds, scopes: Set<String>) throws -> Int64 {
        try db.run(
            "UPDATE tidemark_outbox SET state = 'settled', seq = ?, settled = ?, scopes = ? WHERE n = ?",
            [seq, time, scopes.sorted().joined(separator: "\n"), entry.number])
        let bytes = Int64(entry.body.utf8.count)
        return scopes.isEmpty ? try bytes + strip(entry) : bytes
    }

    /// An entry that was refused: its payload is among the parked, and its number must be offered again with those behind it.
    func refuse(_ entry: OutboxEntry) throws -> Int64 {
        try OutboxTable(db: db).set(.refused, entry.number)
        return Int64(entry.body.utf8.count)
    }

    /// The number of an entry that went on without it.
    func keepNumber(of entry: OutboxEntry) throws -> Int64 {
        try OutboxTable(db: db).append(
            Self.standIn(for: entry.id, at: entry.number), number: entry.number, written: entry.written,
            body: entry.body, created: entry.created, state: .refused)
        return Int64(entry.body.utf8.count)
    }

    /// A transaction that was refused is to be sent again under its id: its old number gets another one.
    func release(_ id: TransactionID) throws {
        guard let entry = try OutboxTable(db: db).entry(id), entry.state == .refused else { return }
        try db.run(
            "UPDATE tidemark_outbox SET id = ? WHERE n = ?",
            [Self.standIn(for: id, at: entry.number).description, entry.number])
    }

    /// The same for the same entry.
    private static func standIn(for id: TransactionID, at number: Int64) -> TransactionID {
        UniqueID(high: ~id.high ^ UInt64(bitPattern: number), low: id.low)
    }

    /// Numbers that were trimmed, to be offered with nothing in them in front of those that are still here.
    ///
    /// - Throws: `StoreError` with `serverForgot` for too many.
    func fill(_ numbers: ClosedRange<Int64>, client: ClientID, at now: Milliseconds) throws {
        guard numbers.count <= Self.gapMax else {
            throw StoreError(
                .serverForgot, "the server lost \(numbers.count) transactions of this client that are not kept here")
        }
        for number in numbers {
            let id = Self.standIn(for: client, at: number)
            let nothing = Mutation(key: RecordKey(collection: "gone", id: id), action: .delete)
            let body = OutboxEntry.text(Transaction(id: id, mutations: [nothing], clientTime: now))
            try OutboxTable(db: db).append(id, number: number, written: 0, body: body, created: now, state: .void)
        }
    }

    private static let gapMax = 10_000

    func grow(by bytes: Int64) throws {
        guard bytes != 0 else { return }
        try Meta.journalBytes.set(max(0, (Meta.journalBytes.integer(db) ?? 0) + bytes), db)
    }

    /// Drops what is safe, or was settled too long ago.
    ///
    /// - Parameters:
    ///   - durable: the number of the order up to which the server calls it safe; `nil` where it does not say.
    ///   - time: what was settled before that goes in any case, by the server's time.
    func trim(through durable: SequenceNumber?, before time: Milliseconds) throws {
        // Numbers and times rise with the entries: the first that stays ends the search. What was refused has neither and goes
        // along; what a lost scope took the payload of has both.
        let sql = """
            SELECT n FROM tidemark_outbox
            WHERE n <= ?1 AND seq > ?2 AND settled > ?3
            ORDER BY n LIMIT 1
            """
        let last = try Meta.ackedThrough.integer(db) ?? 0
        let stays = try db.first(sql, [last, durable ?? -1, time])?.integer(0) ?? last + 1
        try drop(below: stays)
    }

    /// Drops the oldest where there is too much: so much that it need not be done again soon.
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

    /// The entries above a number of this client's, in order.
    func entries(above number: Int64) throws -> [OutboxEntry] {
        let sql = """
            SELECT \(OutboxEntry.columns) FROM tidemark_outbox
            WHERE n > ? AND n <= ? AND n > 0
            ORDER BY n
            """
        let last = try Meta.ackedThrough.integer(db) ?? 0
        return try db.all(sql, [number, last]).map { try OutboxEntry($0) }
    }

    /// The accepted ones up to a number of this client's that were given a place from a number of the order on.
    func entries(through number: Int64, lostFrom seq: SequenceNumber) throws -> [OutboxEntry] {
        let sql = """
            SELECT \(OutboxEntry.columns) FROM tidemark_outbox
            WHERE n > 0 AND n <= ? AND state = 'settled' AND seq >= ?
            ORDER BY n
            """
        return try db.all(sql, [number, seq]).map { try OutboxEntry($0) }
    }

    /// What a former client id had settled from a number of the order on; all of the last one's where the copy goes back to
    /// before that was registered.
    ///
    /// - Parameters:
    ///   - end: the number of the past cursor that the copy goes back to; 0 for none.
    ///   - time: what was settled before that, by the server's time, is kept no more.
    func former(from seq: SequenceNumber, end: Int64, after time: Milliseconds) throws -> [OutboxEntry] {
        // A client that the server does not know, and of whose past cursors none is left, was registered in what is lost; and
        // all that it wrote was written after that.
        let isUnregistered = try Meta.formerPast.integer(db).map { end < $0 } ?? false
        let written = try isUnregistered ? Meta.formerWritten.integer(db) ?? .max : .max
        let sql = """
            SELECT \(OutboxEntry.columns) FROM tidemark_outbox
            WHERE n < 0 AND (seq >= ? OR written >= ?) AND settled > ?
            ORDER BY n
            """
        return try db.all(sql, [seq, written, time]).map { try OutboxEntry($0) }
    }

    /// Notes where the past cursors begin that prove this client id's registration: with the next one, where it is new, has its
    /// first transaction settled, or the copy went back.
    func notePast(isNew: Bool) throws {
        let next = try PastCursors(db: db).next()
        let first = try isNew ? next : min(next, Meta.registeredPast.integer(db) ?? 1)
        try Meta.registeredPast.set(first, db)
    }

    /// Makes room for the numbers of another client id.
    ///
    /// - Parameter isCopy: another installation holds the same journal, and offers it: here it goes.
    /// - Returns: what is known to be lost, as it stands; all else is out of the way.
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
            // Of a client id that the server still knows it is not said when it was registered.
            try Meta.formerPast.set(lostAbove == .max ? Meta.registeredPast.integer(db) ?? 0 : 0, db)
            try db.run("UPDATE tidemark_outbox SET n = written + ? WHERE \(kept)", [Self.formerPlace, limit])
        }
        return try entries(above: 0)
    }

    /// Adds up what a bound is set to, after entries went or moved.
    func recount() throws {
        let sql = """
            SELECT sum(length(CAST(body AS BLOB))) FROM tidemark_outbox WHERE state IN ('settled', 'refused')
            """
        try Meta.journalBytes.set(db.first(sql)?.optionalInteger(0) ?? 0, db)
    }

    /// What a lost scope's records were written with goes; numbers stay, and say which records they were of. What only deletes
    /// says no more than that, and stays whole: whoever deletes the record that is the scope loses it by that.
    func forget(_ scope: ScopeID) throws {
        let sql = """
            SELECT \(OutboxEntry.columns) FROM tidemark_outbox
            WHERE state = 'settled' AND instr(char(10) || scopes || char(10), char(10) || ? || char(10)) > 0
            """
        var bytes: Int64 = 0
        for row in try db.all(sql, [scope.text]) { bytes += try strip(OutboxEntry(row)) }
        try grow(by: bytes)
    }

    /// Takes the contents out of an entry.
    ///
    /// - Returns: the bytes that it has more than before.
    private func strip(_ entry: OutboxEntry) throws -> Int64 {
        let before = try entry.transaction()
        guard before.mutations.contains(where: { $0.action != .delete }) else { return 0 }
        let keys = Set(before.mutations.map(\.key)).sorted()
        let bare = Transaction(
            id: entry.id, mutations: keys.map { Mutation(key: $0, action: .delete) }, clientTime: entry.created)
        let body = OutboxEntry.text(bare)
        try db.run(
            "UPDATE tidemark_outbox SET state = 'refused', body = ?, scopes = NULL WHERE n = ?", [body, entry.number])
        return Int64(body.utf8.count) - Int64(entry.body.utf8.count)
    }
}
