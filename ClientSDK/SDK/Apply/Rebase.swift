import TidemarkModel

/// The records whose base or pending writes changed; they are shown anew at the end of the same transaction.
///
/// The server's row of a committed write may be still to come: a frame reports the settlement, and pages bring the
/// records of a scope that is new to the connection. Until then the write itself replaces the row, with the number 0,
/// which any state from the server overwrites. `RecordTable.sweep` ends it when no page is left to come.
struct Rebase {
    let records: RecordTable
    private var touched: Set<RecordKey> = []
    private var failed: Set<RecordKey> = []
    /// The committed mutations, in the order of their numbers, by the records that they write.
    private var committed: [RecordKey: [Mutation]] = [:]
    /// The number of the last of them, by record.
    private var committedAt: [RecordKey: SequenceNumber] = [:]

    /// The server's states that newer ones replaced while pending writes were on top of them.
    private var met: [RecordKey: LocalRecord] = [:]
    /// The decisions, for the log.
    private(set) var events: [SyncLogEvent] = []

    init(records: RecordTable) { self.records = records }

    /// Notes that the record must be shown anew.
    mutating func touch(_ key: RecordKey) { touched.insert(key) }

    /// Notes that a newer state of the server arrived under local writes; `base` is the one before.
    mutating func meet(_ key: RecordKey, over base: LocalRecord) {
        touched.insert(key)
        if met[key] == nil { met[key] = base }
    }

    /// Keeps an event for the log, which receives it after the commit.
    mutating func note(_ event: SyncLogEvent) { events.append(event) }

    /// Notes that the record must be shown anew without a write that was refused.
    mutating func fail(_ key: RecordKey) {
        touched.insert(key)
        failed.insert(key)
    }

    /// Notes that writes of `manual` fields were refused, and wait for the app.
    mutating func refuse(_ transaction: Transaction) {
        for mutation in transaction.mutations {
            guard let collection = records.tables[mutation.key.collection]?.collection else { continue }
            let fields = mutation.manualPatches(in: collection).map(\.field)
            guard !fields.isEmpty else { continue }
            events.append(.conflict(ConflictNote(key: mutation.key, fields: fields, outcome: .waiting)))
        }
    }

    /// Notes that the record must be shown anew with a write that the server has settled.
    mutating func commit(_ key: RecordKey, _ transaction: Transaction, at seq: SequenceNumber) {
        touched.insert(key)
        committedAt[key] = seq
        committed[key, default: []] += transaction.mutations.filter { $0.key == key }
    }

    /// Shows each touched record as its base plus the pending writes, and deletes bases that are not needed any more.
    mutating func finish() throws {
        for key in touched.sorted() {
            for note in try [overwritten(key), overwrote(key)] {
                if let note { events.append(.conflict(note)) }
            }
            try show(key)
        }
        for key in failed.sorted() { try records.mark(key, failed: true) }
    }

    /// Returns the committed values that the server's row no longer has, since they were overwritten later.
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

    /// Returns the values of others that committed writes of this device replaced unseen, if the state before is known.
    /// The server's ledger has all of them.
    private func overwrote(_ key: RecordKey) throws -> ConflictNote? {
        guard let mutations = committed[key], let seq = committedAt[key], let before = met[key],
            before.existence == .live, let collection = records.tables[key.collection]?.collection
        else { return nil }
        let found = before.overwritten(by: mutations, in: collection)
        guard !found.isEmpty, let account = try Meta.account.text(records.db) else { return nil }
        // The number of a transaction is that of its last write. The record's own number is at most that, unless it was
        // written again since.
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
        // Without a state from the server, and without pages to come that could bring one, there is no record.
        if base.seq == 0, !isFilling { settled.existence = .absent }
        try records.show(settled, state: state)
        if settled.existence == .deleted, isFilling {
            try records.saveTombstone(key, scope: base.scope, seq: base.seq)
        }
    }

    /// Notes the result for a record that was changed here and elsewhere; must be called before the row changes.
    private mutating func noteMeeting(_ base: LocalRecord, _ pending: [Mutation]) throws {
        guard let before = met[base.key] else { return }
        let meeting = MergeDecision.Meeting(
            before: before, now: base, shown: try records.visible(base.key), pending: pending,
            committed: committed[base.key] ?? [])
        if let decision = MergeDecision(meeting) { events.append(.merged(decision)) }
    }

    /// Returns the base with the committed writes in it. A base with a number contains them already, or the frame would
    /// have brought a newer one.
    private func base(_ key: RecordKey, in collection: CollectionSchema) throws -> LocalRecord? {
        guard let base = try records.base(key) else { return nil }
        guard base.seq == 0, let mutations = committed[key] else { return base }
        var settled = base.folding(mutations, in: collection, by: records.account)
        // The fields of a settled deletion are not stored: nothing may be shown that a later rebase would not show.
        settled.buried = nil
        try records.saveBase(settled)
        return settled
    }
}
