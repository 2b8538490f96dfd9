import GRDB
import TidemarkModel

/// Makes transactions that the server lost pending again, inside one SQLite transaction.
///
/// The app keeps seeing the same records: a record's base becomes what is shown without the writes that are pending
/// again. The server's state arrives with its rows, which are applied whatever their numbers are.
struct Reoffering {
    private let records: RecordTable
    private let account: UserID
    private let now: Milliseconds
    private let lostFrom: SequenceNumber?
    private var db: Database { records.db }

    /// - Parameters:
    ///   - now: the time of entries that are offered empty.
    ///   - lostFrom: the first number of the order that the server lost, if it is known.
    init(_ records: RecordTable, account: UserID, now: Milliseconds, lostFrom: SequenceNumber? = nil) {
        self.records = records
        self.account = account
        self.now = now
        self.lostFrom = lostFrom
    }

    /// Offers every transaction of this client above a number again, under its number and id.
    ///
    /// Numbers that are missing in the journal are offered empty, so that the others keep theirs.
    ///
    /// - Returns: the count of transactions offered, and of those that are missing.
    /// - Throws: `StoreError` with `serverForgot` when too many are missing.
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

    /// Offers again the transactions that a former client id of this file had settled: before the pending ones, or
    /// behind them if those may have been sent under their numbers.
    ///
    /// - Parameter entries: the former entries that are known to be lost.
    func reoffer(former entries: [OutboxEntry], rebase: inout Rebase) throws -> Int {
        guard !entries.isEmpty else { return 0 }
        var counts = try OutboxCounts(db)
        var offered: [(entry: OutboxEntry, number: Int64)] = []
        let outbox = OutboxTable(db: db)
        let pending = try outbox.entries()
        let isUnsent = try Meta.ackedThrough.integer(db) ?? 0 == 0 && pending.allSatisfy { $0.state == .queued }
        if isUnsent { counts.number = Int64(entries.count + pending.count) }
        // From the last to the first, so that each number is free when it is given.
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

    /// Shows entries as pending under their present numbers.
    func restore(_ entries: [(entry: OutboxEntry, number: Int64)], rebase: inout Rebase) throws {
        var bases: [RecordKey: LocalRecord] = [:]
        for (entry, number) in entries {
            // Contested fields are sent again with the rest, and judged again.
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

    /// Returns the record as it is shown, without its pending writes if there are any.
    private func base(under mutation: Mutation, _ scopes: [ScopeID], created: Milliseconds) throws -> LocalRecord {
        let key = mutation.key
        if let known = try records.base(key) ?? records.visible(key) { return known }
        var scope = scopes.count == 1 ? scopes[0] : ScopeID(record: key.id)
        // The created record may have been evicted since; then nothing of its changes is shown.
        if case .create(let fields) = mutation.action, let collection = records.tables[key.collection]?.collection,
            let own = try? collection.scope(of: key.id, fields: fields)
        {
            scope = own
        }
        return LocalRecord(absent: key, scope: scope, author: account, created: created)
    }

    /// Undoes the part of a write on the record that would change the result if it was applied twice.
    private func undo(_ mutation: Mutation, in base: inout LocalRecord, created: Milliseconds) {
        switch mutation.action {
        case .create:
            // A copy of this file may have restored it already. The server does not send a row again that it still has.
            if let lostFrom, base.seq > 0, base.seq < lostFrom { return }
            // The server does not have the record, even if others changed it since.
            base = LocalRecord(absent: mutation.key, scope: base.scope, author: account, created: created)
        case .update(let patches):
            for patch in patches {
                guard case .increment(let step) = patch.patch, let value = base.fields[patch.field] else { continue }
                base.fields[patch.field] = value.decreased(by: step)
            }
        case .delete, .undelete: break
        }
    }

    /// Returns the scopes in which an entry of the journal wrote.
    private func scopes(of number: Int64) throws -> [ScopeID] {
        let text = try db.first("SELECT scopes FROM tidemark_outbox WHERE n = ?", [number])?.optionalText(0)
        return (text ?? "").split(separator: "\n").map { ScopeID(String($0)) }
    }
}

extension FieldValue {
    /// Returns the number less the step; the unchanged value if it is not a number, or the result overflows.
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
