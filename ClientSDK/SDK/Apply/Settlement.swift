import Foundation
import GRDB
import TidemarkModel
import TidemarkWire

/// Removes settled transactions from the outbox, inside the transaction that applies their rows.
struct Settlement {
    let db: Database
    /// The transactions sent lately, so that their text need not be parsed.
    let memo: TransactionMemo
    /// The largest size of the journal, in bytes.
    let bytesMax: Int64
    /// The rows of the settling frame, by scope.
    var groups: [Changes.Group] = []

    func settle(_ settled: Settled, now: Milliseconds, rebase: inout Rebase) throws {
        guard try settled.through <= OutboxCounts(db).number else {
            throw StoreError(.clientForked, "number \(settled.through) was settled, but this database never used it")
        }
        let outbox = OutboxTable(db: db)
        let outcomes = Dictionary(settled.outcomes.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        let journal = Journal(db: db)
        var (committed, writes) = (0, LoggedWrites())
        var bytes: Int64 = 0
        var isWithdrawn = false
        for entry in try outbox.entries(through: settled.through) {
            let outcome = outcomes[entry.number]
            if entry.state == .withdrawn { isWithdrawn = true }
            guard outcome != nil else {
                // The server forgets an outcome once the client knows it. This client does not know it, so
                // another one does.
                throw StoreError(
                    .clientForked, "number \(entry.number) was settled, and its outcome was sent to another client")
            }
            if let outcome, outcome.transaction != entry.id {
                throw StoreError(.clientForked, "number \(entry.number) was settled for another transaction")
            }
            if entry.state == .withdrawn, outcome?.rejection?.code == .invalid {
                // The withdrawal came first. If the transaction itself is invalid, its next sending shows it.
                try Withholding(db: db).wait(entry)
                bytes += try journal.keepNumber(of: entry)
                continue
            }
            // An earlier sending arrived, so the transactions behind it continue.
            if entry.state == .withdrawn { try Withholding(db: db).want(isAll: false) }
            if let rejection = outcome?.rejection {
                try refuse(entry, rejection, outcome?.contested ?? [], at: now, rebase: &rebase)
                bytes += try journal.refuse(entry)
            } else if entry.state == .void, try entry.transaction().isBare {
                // Another copy of this file has sent the contents, which this one has removed. No row changes here.
                try ReceiptTable(db: db).commit(entry.id, seq: outcome?.seq ?? 0, time: outcome?.time ?? 0)
                bytes += try journal.refuse(entry)
            } else {
                let (seq, time) = (outcome?.seq ?? 0, outcome?.time ?? 0)
                let contested = outcome?.contested ?? []
                let scopes = try commit(
                    entry, seq: seq, time: time, besides: contested, counting: &writes, rebase: &rebase)
                bytes += try journal.keep(entry, seq: seq, time: time, scopes: scopes)
                // The app is not asked about a write that it gave up.
                if let first = contested.first, entry.state != .void {
                    try dispute(entry, contested, first, at: now, rebase: &rebase)
                }
                committed += 1
            }
        }
        try journal.grow(by: bytes)
        if isWithdrawn {
            for key in try Withholding(db: db).releaseWanted() { rebase.touch(key) }
        }
        if committed > 0 { rebase.note(.committed(transactions: committed, writes)) }
        let before = try Meta.ackedThrough.integer(db) ?? 0
        if settled.through > before {
            // From now on a past cursor proves that the client id was registered: it is behind what was settled under
            // the id.
            if before == 0 { try journal.notePast(isNew: true) }
            try Meta.ackedThrough.set(settled.through, db)
        }
        try journal.bound(to: bytesMax)
    }

    private func refuse(
        _ entry: OutboxEntry, _ rejection: Rejection, _ contested: [ContestedFields], at now: Milliseconds,
        rebase: inout Rebase
    ) throws {
        switch entry.state {
        case .held, .void, .settled, .refused: break
        case .queued, .sending, .reoffered, .withdrawn, .waiting:
            for key in try Parking(db: db).park(entry, rejection, at: now) { rebase.fail(key) }
            if try Awaiting(db: db).isLikely(entry, rejection) { try Awaiting(db: db).mark(entry.id, at: now) }
            let writes = LoggedWrites(try entry.transaction().mutations)
            rebase.note(.rejected(transaction: UUID(entry.id), rejection: rejection, writes))
            if !contested.isEmpty { try note(entry.transaction(), rebase: &rebase) }
        }
    }

    /// Commits an entry. A held one that was accepted after all is no longer parked.
    ///
    /// - Returns: the scopes of the records that the entry writes; empty if one of them is unknown.
    private func commit(
        _ entry: OutboxEntry, seq: SequenceNumber, time: Milliseconds, besides contested: [ContestedFields],
        counting writes: inout LoggedWrites, rebase: inout Rebase
    ) throws -> Set<String> {
        if entry.state == .held || entry.state == .void { try Parking(db: db).delete(entry.id) }
        try ReceiptTable(db: db).commit(entry.id, seq: seq, time: time)
        let transaction = try memo.transaction(of: entry)
        let effective = contested.isEmpty ? transaction : transaction.leaving(contested, rebase.records.tables)
        writes.add(effective.mutations)
        var scopes: Set<String> = []
        var isKnown = true
        for (key, linked) in try OutboxTable(db: db).unlink(transaction, number: entry.number) {
            rebase.commit(key, effective, at: seq)
            if let scope = try scope(of: key, linked: linked, rebase.records) {
                scopes.insert(scope)
            } else {
                isKnown = false
            }
        }
        memo.forget(entry.id)
        return isKnown ? scopes : []
    }

    /// Returns the record's scope; `nil` if it is unknown. A write that was salvaged from a damaged file is linked under the
    /// record's own id. The scope then is that of the server's row, which was stored before or is in this frame.
    private func scope(of key: RecordKey, linked: String, _ records: RecordTable) throws -> String? {
        guard linked == ScopeID(record: key.id).text, records.tables[key.collection]?.collection.scope != .ownRecord
        else { return linked }
        if let base = try records.base(key), base.seq > 0 { return base.scope.text }
        return groups.first { group in group.changes.contains { $0.key == key } }?.scope.text
    }

    /// Parks the contested fields of an entry whose rest has taken effect: the app chooses between the two values of
    /// each.
    private func dispute(
        _ entry: OutboxEntry, _ contested: [ContestedFields], _ first: ContestedFields, at now: Milliseconds,
        rebase: inout Rebase
    ) throws {
        let disputed = try entry.transaction().only(contested, rebase.records.tables)
        let fields = first.fields.joined(separator: ", ")
        let rejection = Rejection(
            .conflict,
            "\(first.key.collection).\(fields): changed since the writer saw it; the rest of the transaction took effect"
        )
        try Parking(db: db).park(disputed, rejection, at: now)
        for key in Set(disputed.mutations.map(\.key)).sorted() { rebase.fail(key) }
        rebase.note(
            .rejected(transaction: UUID(entry.id), rejection: rejection, LoggedWrites(disputed.mutations)))
        try note(disputed, rebase: &rebase)
    }

    /// Notes a parked transaction's `manual` fields as conflicts that wait for the app.
    private func note(_ transaction: Transaction, rebase: inout Rebase) throws {
        try ConflictTable(db: db).note(transaction, schema: rebase.records.tables)
        rebase.refuse(transaction)
    }
}

extension Transaction {
    /// Returns the transaction without the contested fields.
    fileprivate func leaving(_ contested: [ContestedFields], _ tables: [String: CollectionTable]) -> Transaction {
        selecting({ !contested.hold($0, of: $1, tables) }, others: { _ in true })
    }

    /// Returns the contested fields alone.
    fileprivate func only(_ contested: [ContestedFields], _ tables: [String: CollectionTable]) -> Transaction {
        selecting({ contested.hold($0, of: $1, tables) }, others: { _ in false })
    }

    private func selecting(
        _ patches: (NamedPatch, RecordKey) -> Bool, others: (Mutation) -> Bool
    ) -> Transaction {
        var transaction = self
        transaction.mutations = mutations.compactMap { mutation in
            guard case .update(let all) = mutation.action else { return others(mutation) ? mutation : nil }
            let left = all.filter { patches($0, mutation.key) }
            return left.isEmpty ? nil : Mutation(key: mutation.key, action: .update(left))
        }
        return transaction
    }
}

extension [ContestedFields] {
    /// Returns true when the patch's field of the record is among them, under any of its names.
    fileprivate func hold(_ named: NamedPatch, of key: RecordKey, _ tables: [String: CollectionTable]) -> Bool {
        guard let collection = tables[key.collection]?.collection else { return false }
        return contains { contested in
            contested.key == key && contested.fields.contains { collection.isSameField($0, named.field) }
        }
    }
}
