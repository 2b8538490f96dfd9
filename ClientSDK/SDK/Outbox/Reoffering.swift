import GRDB
import TidemarkModel

/// Puts what the server lost back among what is pending, inside one SQLite transaction.
///
/// The app goes on seeing what it saw: a record's base becomes what is shown without the writes that are pending again. What
/// the server has instead comes with its rows, whose numbers count whatever they are.
struct Reoffering {
    private let records: RecordTable
    private let account: UserID
    private let now: Milliseconds
    private let lostFrom: SequenceNumber?
    private var db: Database { records.db }

    /// - Parameters:
    ///   - now: noted on numbers that are offered with nothing in them.
    ///   - lostFrom: the first number of the order that the server lost, where it says so.
    init(_ records: RecordTable, account: UserID, now: Milliseconds, lostFrom: SequenceNumber? = nil) {
        self.records = records
        self.account = account
        self.now = now
        self.lostFrom = lostFrom
    }

    /// Offers everything of this client that stands above a number again, under the numbers and ids that it has.
    ///
    /// Numbers that the journal does not hold any more are offered with nothing in them, so that the others keep theirs.
    ///
    /// - Returns: how many transactions are offered, and how many are not here any more.
    /// - Throws: `StoreError` with `serverForgot` where those are too many.
    func reoffer(above number: Int64, rebase: inout Rebase) throws -> (offered: Int, missing: Int) {
        let last = try Meta.ackedThrough.integer(db) ?? 0
        let entries = try Journal(db: db).entries(above: number)
        let first = entries.first?.number ?? last + 1
        guard entries.map(\.number) == Array(first..<last + 1) else {
            throw StoreError(.corrupt, "the journal has a gap between \(first) and \(last)")
        }
        if first > number + 1, let client = try Meta.client.text(db).flatMap({ UniqueID($0) }) {
            try Journal(db: db).fill(number + 1...first - 1, client: client, at: now)
        }
        var bytes: Int64 = 0
        let outbox = OutboxTable(db: db)
        for entry in entries {
            try outbox.set(entry.state == .settled ? .reoffered : .void, entry.number)
            bytes += Int64(entry.body.utf8.count)
        }
        let offered = entries.filter { $0.state == .settled }
        try restore(offered.map { ($0, $0.number) }, rebase: &rebase)
        try Meta.ackedThrough.set(number, db)
        try Journal(db: db).grow(by: -bytes)
        return (offered.count, Int(first - number - 1))
    }

    /// Offers again what a former client id of this file had settled: before what is pending, or behind it where that may have
    /// been sent under its numbers.
    ///
    /// - Parameter entries: what is known to be lost of it.
    func reoffer(former entries: [OutboxEntry], rebase: inout Rebase) throws -> Int {
        guard !entries.isEmpty else { return 0 }
        var counts = try OutboxCounts(db)
        var offered: [(entry: OutboxEntry, number: Int64)] = []
        let outbox = OutboxTable(db: db)
        let pending = try outbox.entries()
        let isUnsent = try Meta.ackedThrough.integer(db) ?? 0 == 0 && pending.allSatisfy { $0.state == .queued }
        if isUnsent { counts.number = Int64(entries.count + pending.count) }
        // From the last on, so that each number is free when it is given.
        for (index, entry) in pending.enumerated().reversed() where isUnsent {
            try outbox.move(entry, to: Int64(entries.count + index + 1), .queued)
        }
        for (index, entry) in entries.enumerated() {
            let number = isUnsent ? Int64(index + 1) : counts.number + Int64(index + 1)
            try outbox.move(entry, to: number, .reoffered)
            offered.append((entry, number))
        }
        if !isUnsent { counts.number += Int64(entries.count) }
        try counts.keep(db)
        try Journal(db: db).recount()
        try restore(offered, rebase: &rebase)
        return offered.count
    }

    /// Shows entries as pending under the numbers that they have now.
    func restore(_ entries: [(entry: OutboxEntry, number: Int64)], rebase: inout Rebase) throws {
        var bases: [RecordKey: LocalRecord] = [:]
        for (entry, number) in entries {
            // What was contested of it goes again with the rest, and is judged again.
            try Parking(db: db).delete(entry.id)
            let scopes = try scopes(of: number)
            for mutation in try entry.transaction().mutations {
                let key = mutation.key
                var base = try bases[key] ?? base(under: mutation, scopes, created: entry.created)
                undo(mutation, in: &base, created: entry.created)
                bases[key] = base
                try OutboxTable(db: db).link(key, scope: base.scope, number: number)
                rebase.touch(key)
            }
        }
        for key in bases.keys.sorted() {
            guard let base = bases[key] else { continue }
            try records.saveBase(base)
        }
    }

    /// What is shown of the record, with what is pending already taken off where there is such.
    private func base(under mutation: Mutation, _ scopes: [ScopeID], created: Milliseconds) throws -> LocalRecord {
        let key = mutation.key
        if let known = try records.base(key) ?? records.visible(key) { return known }
        var scope = scopes.count == 1 ? scopes[0] : ScopeID(record: key.id)
        // What it creates may have been evicted since; of what it changed nothing is shown then.
        if case .create(let fields) = mutation.action, let collection = records.tables[key.collection]?.collection,
            let own = try? collection.scope(of: key.id, fields: fields)
        {
            scope = own
        }
        return LocalRecord(absent: key, scope: scope, author: account, created: created)
    }

    /// Takes a write off the record as far as it would not be the same to apply it twice.
    private func undo(_ mutation: Mutation, in base: inout LocalRecord, created: Milliseconds) {
        switch mutation.action {
        case .create:
            // A copy of this file may have brought it back already: no row of what the server still has comes a second time.
            if let lostFrom, base.seq > 0, base.seq < lostFrom { return }
            // The server does not have it, whoever changed it since.
            base = LocalRecord(absent: mutation.key, scope: base.scope, author: account, created: created)
        case .update(let patches):
            for patch in patches {
                guard case .increment(let step) = patch.patch, let value = base.fields[patch.field] else { continue }
                base.fields[patch.field] = value.decreased(by: step)
            }
        case .delete, .undelete: break
        }
    }

    /// The scopes in which an entry of the journal wrote.
    private func scopes(of number: Int64) throws -> [ScopeID] {
        let text = try db.first("SELECT scopes FROM tidemark_outbox WHERE n = ?", [number])?.optionalText(0)
        return (text ?? "").split(separator: "\n").map { ScopeID(String($0)) }
    }
}

extension FieldValue {
    /// The number without the step; the value as it is where that is no number, or too large a one.
    fileprivate func decreased(by step: FieldValue) -> FieldValue {
        switch (self, step) {
        case (.integer(let value), .integer(let step)):
            let (less, overflows) = value.subtractingReportingOverflow(step)
            return overflows ? self : .integer(less)
        case (.double(let value), .double(let step)): return .double(value - step)
        case (.double(let value), .integer(let step)): return .double(value - Double(step))
        default: return self
        }
    }
}
