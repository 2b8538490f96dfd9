import TidemarkModel
import TidemarkStore

/// All versions of all records, and the members of each scope at every number.
struct OracleState {
    let schema: Schema
    let limits: ModelLimits
    /// The last number of the order.
    private(set) var last: SequenceNumber = 0
    private(set) var history: [RecordKey: [Change]] = [:]
    private(set) var timeline = MembershipTimeline()
    private var time: Milliseconds = 0
    /// Records that are behind the horizon: for the server they never existed.
    private(set) var forgotten: Set<RecordKey> = []
    /// Records that the current batch touched.
    private var touched: Set<RecordKey> = []
    /// The values that the current batch overwrote unseen, and those of all batches, in the order of the writes.
    private var overwritten: [Overwriting] = []
    private(set) var ledger: [RecordKey: [Overwriting]] = [:]

    /// One line of the ledger as the fold gives it.
    struct Overwriting: Hashable {
        let key: RecordKey
        let seq: SequenceNumber
        let field: String
        let old: FieldValue?
        let new: FieldValue?
        let author: UserID
    }

    init(schema: Schema, limits: ModelLimits) {
        self.schema = schema
        self.limits = limits
    }

    var keys: [RecordKey] { history.keys.sorted() }

    func current(_ key: RecordKey) -> Change? { forgotten.contains(key) ? nil : history[key]?.last }

    /// Forgets records that were deleted up to the horizon, and with a scope's own record all that belongs to the
    /// scope.
    mutating func forget(through horizon: SequenceNumber) {
        for (key, versions) in history {
            guard let last = versions.last, last.isDeleted, last.seq <= horizon else { continue }
            forgotten.insert(key)
            guard schema.collection(key.collection)?.scope == .ownRecord else { continue }
            for (other, versions) in history where versions.last?.scope == last.scope { forgotten.insert(other) }
        }
        for key in forgotten { ledger[key] = nil }
    }

    /// Forgets all that belongs to a scope, except for the tombstone of the record that opened it.
    mutating func erase(_ scope: ScopeID, by batch: CommittedBatch) {
        begin(batch.low, time: batch.head.time)
        last = batch.head.seq
        for record in batch.records {
            history[record.key, default: []].append(
                Change(
                    key: record.key, scope: scope, seq: record.seq, born: record.born, isDeleted: true, author: .erased,
                    created: record.created, updated: record.updated, fields: Fields()))
        }
        timeline.replace(scope, with: [:], at: batch.head.seq)
        let graves = Set(batch.records.map(\.key))
        for (key, versions) in history where versions.last?.scope == scope {
            ledger[key] = nil
            if !graves.contains(key) { forgotten.insert(key) }
        }
    }

    /// The record at a number; `nil` before its creation.
    func version(of key: RecordKey, at seq: SequenceNumber) -> Change? { history[key]?.last { $0.seq <= seq } }

    mutating func begin(_ low: SequenceNumber, time: Milliseconds) {
        last = low - 1
        self.time = time
        touched = []
        overwritten = []
    }

    /// Notes values that a write replaces and its device had not shown: if the rule replaces values, they are in the
    /// ledger.
    mutating func noteOverwritten(
        by patches: [NamedPatch], from before: Fields, to after: Fields, _ key: RecordKey, author: UserID,
        _ collection: CollectionSchema
    ) {
        for patch in patches {
            guard let seen = patch.seen, let field = collection.field(patch.field),
                field.merge == .lww || field.merge == .keys
            else { continue }
            let (old, new) = (Self.named(by: patch, before), Self.named(by: patch, after))
            if old == new || ValueMark(old, of: field) == seen { continue }
            let line = Overwriting(key: key, seq: last, field: patch.field, old: old, new: new, author: author)
            overwritten.append(line)
            ledger[key, default: []].append(line)
        }
    }

    /// Notes values that a restore has replaced with others.
    mutating func noteRestored(from before: Fields, to after: Fields, _ key: RecordKey, author: UserID) {
        let names = Set((before.entries + after.entries).map(\.name)).sorted()
        for name in names where before[name] != after[name] {
            let line = Overwriting(
                key: key, seq: last, field: name, old: before[name], new: after[name], author: author)
            overwritten.append(line)
            ledger[key, default: []].append(line)
        }
    }

    /// The value that a write is about: a field's value, or a map's values under the keys that the write names.
    private static func named(by patch: NamedPatch, _ fields: Fields) -> FieldValue? {
        guard case .keys(let keys) = patch.patch else { return fields[patch.field] }
        guard case .object(let map)? = fields[patch.field] else { return nil }
        var part = Fields()
        for key in keys.entries { part[key.name] = map[key.name] }
        return part.entries.isEmpty ? nil : .object(part)
    }

    /// Applies a whole transaction, or nothing.
    ///
    /// - Returns: the reason for a refusal, and the contested fields of all records.
    mutating func apply(
        _ transaction: Transaction, by user: UserID
    ) -> (refusal: Rejection?, contested: [ContestedFields]) {
        if transaction.mutations.count > limits.mutationsMax { return (Rejection(.tooLarge, "too many mutations"), []) }
        var trial = self
        var contested: [ContestedFields] = []
        var idle = 0
        do throws(Rejection) {
            for mutation in transaction.mutations {
                let step = try trial.apply(mutation, ifSeq: transaction.ifSeq, by: user)
                if !step.contested.isEmpty {
                    contested.append(ContestedFields(key: mutation.key, fields: step.contested))
                }
                if step.isIdle { idle += 1 }
            }
            try trial.checkNotes(of: transaction, from: self, by: user)
        } catch {
            return (error, [])
        }
        if idle > 0, idle == transaction.mutations.count {
            return (Rejection(.conflict, "all of it is contested"), contested)
        }
        self = trial
        return (nil, contested)
    }

    /// Gives the record its next state.
    mutating func put(_ key: RecordKey, scope: ScopeID, fields: Fields?, author: UserID, _ collection: CollectionSchema)
    {
        last += 1
        let before = current(key)
        forgotten.remove(key)
        history[key, default: []].append(
            Change(
                key: key, scope: scope, seq: last, born: before?.born ?? last, isDeleted: fields == nil, author: author,
                created: before?.created ?? time, updated: time, fields: fields ?? Fields()))
        touched.insert(key)
        guard let memberField = collection.memberField else { return }
        timeline.replace(
            scope, with: Self.roles(fields, memberField, collection.adminField, author: author), at: last)
    }

    private static func roles(
        _ fields: Fields?, _ memberField: String, _ adminField: String?, author: UserID
    ) -> [UserID: Role] {
        let members = texts(fields?[memberField])
        let admins = texts(adminField.flatMap { fields?[$0] })
        var roles: [UserID: Role] = [:]
        for member in members {
            roles[UserID(member)] = member == author.text ? .owner : admins.contains(member) ? .admin : .member
        }
        return roles
    }

    private static func texts(_ value: FieldValue?) -> [String] {
        guard case .array(let elements)? = value else { return [] }
        return elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    /// Compares the batch's records with those of the fold.
    func compare(with batch: CommittedBatch) throws(Violation) {
        let keys = Set(batch.records.map(\.key))
        try check(keys == touched, .merge, "batch \(batch.low) wrote other records than it accepted")
        for record in batch.records { try compare(record) }
        let lines = batch.ledger.map(Overwriting.init)
        try check(
            lines == overwritten, .merge, "batch \(batch.low) has \(lines.count) ledger lines, not \(overwritten.count)"
        )
    }

    /// Compares a stored record with the fold's last version of it.
    func compare(_ record: StoredRecord) throws(Violation) {
        guard let expected = current(record.key) else {
            throw Violation(invariant: .stability, message: "\(record.key) is in no accepted transaction")
        }
        try check(
            record.scope == expected.scope && record.born == expected.born, .record, "\(record.key) moved")
        try check(record.seq == expected.seq, .record, "\(record.key) at \(record.seq), not \(expected.seq)")
        let body = expected.isDeleted ? [] : expected.fields.canonicalBytes
        // An erased record is not kept for a restore.
        let living = expected.author == .erased ? nil : history[record.key]?.last { !$0.isDeleted }
        let buried = expected.isDeleted ? living?.fields.canonicalBytes ?? [] : []
        try check(
            record.buried == buried, .merge,
            "\(record.key) at \(record.seq) was deleted as \(String(decoding: record.buried, as: UTF8.self))")
        try check(
            record.isDeleted == expected.isDeleted && record.body == body, .merge,
            "\(record.key) at \(record.seq): \(String(decoding: record.body, as: UTF8.self)), not \(String(decoding: body, as: UTF8.self))"
        )
        try check(
            record.author == expected.author && record.created == expected.created
                && record.updated == expected.updated, .merge, "\(record.key): author or times")
    }
}

extension OracleState.Overwriting {
    init(_ entry: LedgerEntry) {
        self.init(
            key: entry.key, seq: entry.seq, field: entry.value.field, old: entry.value.old, new: entry.value.new,
            author: entry.author)
    }
}
