import GRDB
import TidemarkModel

/// Transactions that got no answer too often, and those behind them in the same scopes. They are shown, and block
/// nothing else. Works inside one SQLite transaction.
///
/// Silence may be a passing outage. A transaction that met only silence is sent again with the next connection, or
/// after half a minute or more on one that lasts, without end. A transaction whose every attempt was **answered** with
/// a failure stays until the user or the app retries it or gives it up. Those behind it wait as long.
///
/// Numbers have no gaps, and the server may have accepted a transaction without answering. A withheld transaction
/// therefore first becomes `withdrawn`: its number is sent with nothing in it, which the server refuses. If the outcome
/// is that refusal, the transaction did not take effect, and it waits without a wire number. Otherwise the outcome is
/// that of an earlier sending, and is final.
struct Withholding {
    let db: Database

    /// The first number of waiting entries, far above the wire's.
    static let firstWaitingNumber: Int64 = 1 << 56

    /// The values of `Meta.releaseWanted` besides 0.
    private static let all: Int64 = 1
    private static let unmarked: Int64 = 2

    /// Withdraws an entry, and every later one that shares a scope or a record with a withdrawn one.
    ///
    /// - Parameter isAnswered: true when each attempt was answered with a failure.
    func withdraw(_ number: Int64, reason: String, isAnswered: Bool) throws -> [RecordKey] {
        let outbox = OutboxTable(db: db)
        var keys: Set<RecordKey> = []
        for entry in try outbox.entries(after: number - 1) {
            switch entry.state {
            case .held, .void, .withdrawn, .waiting, .settled, .refused: continue
            case .queued, .sending, .reoffered: break
            }
            let mutations = try entry.transaction().mutations
            guard try entry.number == number || isBehind(entry.number, mutations) else { continue }
            try outbox.withdraw(entry.number, mutations)
            if isAnswered, entry.number == number { try keep(answered: answered().union([entry.id])) }
            try Meta.withholding.set(1, db)
            // The app asked for the last attempt, not for every one.
            try Meta.releaseWanted.set(0, db)
            for mutation in mutations { keys.insert(mutation.key) }
        }
        try db.run("UPDATE tidemark_outbox SET last_error = ? WHERE n = ?", [reason, number])
        return keys.sorted()
    }

    /// Moves an entry that the server never accepted: it waits without a wire number, in its order.
    func wait(_ entry: OutboxEntry) throws {
        try OutboxTable(db: db).move(entry, to: Self.firstWaitingNumber + entry.written, .waiting)
    }

    /// Returns the waiting number for a transaction that is being written and shares a scope or record with a withheld
    /// one; `nil` if it may be sent.
    func waitingNumber(of number: Int64, written: Int64, _ mutations: [Mutation]) throws -> Int64? {
        let isWithholding = "tidemark_meta WHERE key = '\(Meta.withholding.rawValue)' AND value = 1"
        guard try RowCheck(db, isWithholding, parameters: 0).holds() else { return nil }
        guard try isBehind(number, mutations) else { return nil }
        let waiting = Self.firstWaitingNumber + written
        try OutboxTable(db: db).relink(mutations, from: number, to: waiting, isWithheld: true)
        return waiting
    }

    /// Returns all waiting entries, in their order.
    func waiting() throws -> [OutboxEntry] {
        let sql = "SELECT \(OutboxEntry.columns) FROM tidemark_outbox WHERE n >= ? ORDER BY written"
        return try db.all(sql, [Self.firstWaitingNumber]).map { try OutboxEntry($0) }
    }

    /// Gives waiting entries numbers again, behind all others. Entries behind a withdrawn one keep waiting for the
    /// server's answer to that.
    ///
    /// - Parameter isAsked: true when the user or the app requests it; else entries answered with failures stay, with
    ///   those behind them.
    func release(isAsked: Bool) throws -> [RecordKey] {
        guard try Meta.withholding.integer(db) == 1 else { return [] }
        var answered = try answered()
        let outbox = OutboxTable(db: db)
        var keys: Set<RecordKey> = []
        var counts = try OutboxCounts(db)
        for entry in try waiting() {
            let mutations = try entry.transaction().mutations
            guard isAsked || !answered.contains(entry.id), try !isBehindWithdrawn(entry.number, mutations) else {
                continue
            }
            answered.remove(entry.id)
            counts.number += 1
            try outbox.move(entry, to: counts.number, .queued)
            for mutation in mutations { keys.insert(mutation.key) }
        }
        // More numbers are given, and nothing more is written.
        try counts.keep(db)
        let isOver = try !holds("state IN ('withdrawn', 'waiting')")
        if isOver { try Meta.withholding.set(0, db) }
        try keep(answered: isOver ? [] : answered)
        return keys.sorted()
    }

    /// Returns the transactions that were answered with failures.
    func answered() throws -> Set<TransactionID> {
        let lines = try Meta.answeredFailures.text(db)?.split(separator: "\n") ?? []
        return Set(lines.compactMap { UniqueID(String($0)) })
    }

    private func keep(answered: Set<TransactionID>) throws {
        guard try answered != self.answered() else { return }
        try Meta.answeredFailures.set(answered.sorted().map(\.description).joined(separator: "\n"), db)
    }

    /// Gives a withheld transaction up. If the server's answer is still to come, an earlier sending may have arrived;
    /// then that one takes effect.
    ///
    /// - Returns: the records that must be shown anew.
    func discard(_ entry: OutboxEntry) throws -> [RecordKey] {
        let outbox = OutboxTable(db: db)
        let keys = try outbox.unlink(entry.transaction(), number: entry.number).map(\.key)
        if entry.state == .withdrawn { try outbox.set(.void, entry.number) } else { try outbox.delete(entry.number) }
        try keep(answered: answered().subtracting([entry.id]))
        try want(isAll: false)
        return try keys + release(isAsked: false)
    }

    /// Sends a withheld transaction again, with those withheld in front of it and behind it in its scopes: the order in
    /// a scope stays. Other transactions that were answered with failures stay withheld; those that met only silence
    /// are sent along, as with a new connection.
    ///
    /// - Returns: the records that must be shown anew.
    func retry(_ entry: OutboxEntry) throws -> [RecordKey] {
        try keep(answered: answered().subtracting(front(of: entry)))
        try want(isAll: false)
        return try release(isAsked: false)
    }

    /// Returns the transaction and all withheld ones in front of it: those that share a scope or a record with it, or
    /// with another of them that was written later.
    private func front(of entry: OutboxEntry) throws -> Set<TransactionID> {
        let outbox = OutboxTable(db: db)
        let withheld = try outbox.entries().filter { $0.state == .withdrawn } + waiting()
        var found: Set<TransactionID> = []
        var keys: Set<RecordKey> = []
        var scopes: Set<String> = []
        for other in withheld.sorted(by: { $0.written > $1.written }) where other.written <= entry.written {
            let links = try outbox.links(of: other.transaction(), number: other.number)
            let isShared = links.contains { keys.contains($0.key) || scopes.contains($0.scope) }
            guard other.id == entry.id || isShared else { continue }
            found.insert(other.id)
            keys.formUnion(links.map(\.key))
            scopes.formUnion(links.map(\.scope))
        }
        return found
    }

    /// Notes that more is to be sent as soon as the server has answered the withdrawn transactions.
    ///
    /// - Parameter isAll: true for all that is withheld; else transactions answered with failures stay, with those
    ///   behind them.
    func want(isAll: Bool) throws {
        let wish = try isAll || Meta.releaseWanted.integer(db) == Self.all ? Self.all : Self.unmarked
        try Meta.releaseWanted.set(holds("state = 'withdrawn'") ? wish : 0, db)
    }

    /// Returns whether an unsettled entry meets the condition.
    private func holds(_ condition: String) throws -> Bool {
        try db.exists("SELECT 1 FROM tidemark_outbox WHERE \(OutboxTable.isPending) AND \(condition) LIMIT 1")
    }

    /// Releases as `release` does, if that was requested while the server's answer was still to come.
    func releaseWanted() throws -> [RecordKey] {
        guard let wish = try Meta.releaseWanted.integer(db), wish > 0 else { return [] }
        let keys = try release(isAsked: wish == Self.all)
        if try !holds("state = 'withdrawn'") { try Meta.releaseWanted.set(0, db) }
        return keys
    }

    private func isBehind(_ number: Int64, _ mutations: [Mutation]) throws -> Bool {
        try shares(number, mutations, with: "o.state IN ('withdrawn', 'waiting')")
    }

    /// Returns whether the entry is behind one that keeps waiting. Waiting entries in front are included, so that the
    /// order within a scope stays.
    private func isBehindWithdrawn(_ number: Int64, _ mutations: [Mutation]) throws -> Bool {
        try shares(number, mutations, with: "(o.state = 'withdrawn' OR o.state = 'waiting' AND o.n < mine.n)")
    }

    /// Returns whether an entry shares a scope or a record with a withheld one that meets the condition.
    private func shares(_ number: Int64, _ mutations: [Mutation], with condition: String) throws -> Bool {
        let sql = """
            SELECT 1
            FROM tidemark_outbox_record AS mine
            CROSS JOIN tidemark_outbox_record AS other
            JOIN tidemark_outbox AS o ON o.n = other.n
            WHERE mine.collection = ? AND mine.local_id = ? AND mine.n = ? AND other.n != mine.n AND other.withheld = 1
                AND \(condition)
            """
        let ways = [
            "other.scope = mine.scope", "other.collection = mine.collection AND other.local_id = mine.local_id",
        ]
        return try Set(mutations.map(\.key)).contains { key in
            try ways.contains { way in
                try db.exists("\(sql) AND \(way) LIMIT 1", [key.collection, key.id.description, number])
            }
        }
    }
}
