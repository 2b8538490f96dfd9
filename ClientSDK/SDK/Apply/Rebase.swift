import TidemarkModel

/// Records whose base or pending writes changed, shown anew at the end of the same transaction.
///
/// The server's row of a committed write may be still to come: a frame tells what was settled, and pages bring the
/// records of a scope that is new to the connection. Until then the write itself stands in for the row, with the number
/// 0 that any word of the server replaces; `RecordTable.sweep` ends it when no page is left to come.
struct Rebase {
    let records: RecordTable
    private var touched: Set<RecordKey> = []
    private var failed: Set<RecordKey> = []
    /// What was committed, in the order of its numbers, by the records that it writes.
    private var committed: [RecordKey: [Mutation]] = [:]
    /// The number of the last of them, by record.
    private var committedAt: [RecordKey: SequenceNumber] = [:]

    /// The server's words that others replaced while writes stood over them.
    private var met: [RecordKey: LocalRecord] = [:]
    /// The decision, for the log.
    private(set) var events: [SyncLogEvent] = []

    init(records: RecordTable) { self.records = records }

    /// The record must be shown anew.
    mutating func touch(_ key: RecordKey) { touched.insert(key) }

    /// A newer word of the server came under what was written here; `base` is the one before.
    mutating func meet(_ key: RecordKey, over base: LocalRecord) {
        touched.insert(key)
        if met[key] == nil { met[key] = base }
    }

    /// Keeps an event for the log, which hears of it after the commit.
    mutating func note(_ event: SyncLogEvent) { events.append(event) }

    /// The record must be shown anew without a write that was refused.
    mutating func fail(_ key: RecordKey) {
        touched.insert(key)
        failed.insert(key)
    }

    /// Writes of `manual` fields were refused, and wait for the app.
    mutating func refuse(_ transaction: Transaction) {
        for mutation in transaction.mutations {
            guard let collection = records.tables[mutation.key.collection]?.collection else { continue }
            let fields = mutation.manualPatches(in: collection).map(\.field)
            guard !fields.isEmpty else { continue }
            events.append(.conflict(ConflictNote(key: mutation.key, fields: fields, outcome: .waiting)))
        }
    }

    /// The record must be shown anew with a write that the server has settled.
    mutating func commit(_ key: RecordKey, _ transaction: Transaction, at seq: SequenceNumber) {
        touched.insert(key)
        committedAt[key] = seq
        committed[key, default: []] += transaction.mutations.filter { $0.key == key }
    }

    /// Makes each touched record's row its base plus what is pending, and forgets bases that nothing needs.
    mutating func finish() throws {
        for key in touched.sorted() {
            for note in try [overwritten(key), overwrote(key)] {
                if let note { events.append(.conflict(note)) }
            }
            try show(key)
        }
        for key in failed.sorted() { try records.mark(key, failed: true) }
    }

    /// Committed values that the server's row no longer has: someone wrote it later.
    private func overwritten(_ key: RecordKey) throws -> ConflictNote? {
        guard let mutations = committed[key], let seq = committedAt[key], seq > 0,
            let collection = records.tables[key.collection]?.collection, let base = try records.base(key),
            base.seq > seq, base.existence == .live
        else { return nil }
        let later = Set(try records.pending(key).mutations.flatMap { $0.patches.map(\.field) })
        let lost = base.overwriting(mutations, in: collection).filter { !later.contains($0.field) }
        guard !lost.isEmpty else { return nil }
        for value in lost { try HistoryTable(db: records.db).note(value, in: base, at: base.seq) }
        return ConflictNote(key: key, fields: lost.map(\.field), outcome: .overwritten)
    }

    /// Values of others that committed writes of this device replaced without having seen them, where the state before is
    /// known: the server's ledger has all of them.
    private func overwrote(_ key: RecordKey) throws -> ConflictNote? {
        guard let mutations = committed[key], let seq = committedAt[key], let before = met[key],
            before.existence == .live, let collection = records.tables[key.collection]?.collection
        else { return nil }
        let found = before.overwritten(by: mutations, in: collection)
        guard !found.isEmpty, let account = try Meta.account.text(records.db) else { return nil }
        // The number of a transaction is that of its last write: the record's own is at most that, unless it was written
        // again since.
        let base = try records.base(key) ?? before
        for value in found {
            try HistoryTable(db: records.db).note(value, in: base, at: min(base.seq, seq), by: UserID(account))
        }
        return ConflictNote(key: key, fields: found.map(\.field), outcome: .overwrote)
    }

    private mutating func show(_ key: RecordKey) throws {
        guard let table = records.tables[key.collection], let base = try base(key, in: table.collection) else { return }
        let pending = try records.pending(key)
        try noteMeeting(base, pending.mutations)
        guard pending.mutations.isEmpty else {
            let state: RecordState = pending.isWithheld ? .failed : .pending
            return try records.show(
                base.folding(pending.mutations, in: table.collection, by: records.account), state: state)
        }
        try records.deleteBase(key)
        let state: RecordState = try ConflictTable(db: records.db).holds(key) ? .conflict : .synced
        if base.seq > 0, base.existence != .deleted { return try records.show(base, state: state) }
        let isFilling = try ScopeTable(db: records.db).isFilling(base.scope)
        var settled = base
        // Without the server's word, and without pages to come that could bring it, there is no record.
        if base.seq == 0, !isFilling { settled.existence = .absent }
        try records.show(settled, state: state)
        if settled.existence == .deleted, isFilling {
            try records.saveTombstone(key, scope: base.scope, seq: base.seq)
        }
    }

    /// Notes what came of a record that was changed here and elsewhere; to be asked while the row still is as before.
    private mutating func noteMeeting(_ base: LocalRecord, _ pending: [Mutation]) throws {
        guard let before = met[base.key] else { return }
        let meeting = MergeDecision.Meeting(
            before: before, now: base, shown: try records.visible(base.key), pending: pending,
            committed: committed[base.key] ?? [])
        if let decision = MergeDecision(meeting) { events.append(.merged(decision)) }
    }

    /// The base with the committed writes in it. One that has a number has them already, or the frame would have brought
    /// a newer one.
    private func base(_ key: RecordKey, in collection: CollectionSchema) throws -> LocalRecord? {
        guard let base = try records.base(key) else { return nil }
        guard base.seq == 0, let mutations = committed[key] else { return base }
        let settled = base.folding(mutations, in: collection, by: records.account)
        try records.saveBase(settled)
        return settled
    }
}
