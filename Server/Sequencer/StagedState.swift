import TidemarkModel
import TidemarkStore

/// The state that a batch builds up: what was read, overlaid by what the batch wrote so far. Changes are journalled so
/// that a refused transaction leaves no trace.
struct StagedState {
    /// A record with its fields at hand: parsed once a batch, changed as often as need be, and encoded at its end.
    private struct Working {
        /// Its body is that of the fields only where `isEncoded` says so.
        var record: StoredRecord
        /// Parsed on first use.
        var fields: Fields?
        /// Bytes of the body that belongs to the fields.
        var bytes: Int
        var isWritten = false
        var isEncoded = true
    }

    /// A place to roll back to.
    struct Mark {
        fileprivate let undo: Int
        fileprivate let last: SequenceNumber
        fileprivate let memberships: Int
        fileprivate let ledger: Int
    }

    private enum Undo {
        case record(RecordKey, Working?)
        /// `nil` where the batch had not changed it.
        case grant(Seat, Grant??)
    }

    let time: Milliseconds
    /// The last number given.
    private(set) var last: SequenceNumber
    private(set) var memberships: [MembershipChange] = []
    /// What was overwritten unseen, in the order of the writes.
    private(set) var ledger: [LedgerEntry] = []
    /// The number that a repeated create stands for, when the transaction had no effect of its own.
    private var repeated: SequenceNumber = 0
    /// A step was refused because something is not there: known for certain only where everything was read.
    private(set) var hasMissed = false
    /// What the batch has cost so far, as ``PlanLimits`` counts it; refused transactions have cost something as well.
    private(set) var work = 0
    /// Where the transaction under way goes too far.
    private var workMax = Int.max
    let bounds: PlanLimits
    /// Of the schema that the transaction under way was admitted under.
    private var sharedScopes: Set<ScopeID> = []
    private var records: [RecordKey: Working] = [:]
    private let base: OrderState
    /// Those that the batch changed.
    private var grants: [Seat: Grant?] = [:]
    private var undo: [Undo] = []

    init(
        base: OrderState, expecting count: Int, time: Milliseconds, bounds: PlanLimits
    ) {
        self.time = time
        self.bounds = bounds
        self.base = base
        last = base.head.seq
        records.reserveCapacity(base.records.count + count)
        for (key, record) in base.records { records[key] = Working(record: record, bytes: record.body.count) }
    }

    /// Final states in the order of their numbers.
    var writtenRecords: [StoredRecord] {
        records.values.filter(\.isWritten).map { working in
            var record = working.record
            if !working.isEncoded, let fields = working.fields { record.body = fields.canonicalBytes }
            return record
        }.sorted { $0.seq < $1.seq }
    }

    /// A transaction begins.
    mutating func mark(sharedScopes: Set<ScopeID>) -> Mark {
        self.sharedScopes = sharedScopes
        undo.removeAll(keepingCapacity: true)
        repeated = 0
        let (end, overflows) = work.addingReportingOverflow(bounds.transactionWorkMax)
        workMax = overflows ? .max : end
        return Mark(undo: undo.count, last: last, memberships: memberships.count, ledger: ledger.count)
    }

    /// Counts what a step costs.
    ///
    /// - Throws: `too_large` when its transaction has cost more than one may.
    mutating func spend(_ cost: Int) throws(Rejection) {
        work += cost
        guard work <= workMax else {
            throw Rejection(
                .tooLarge,
                "touches more than \(bounds.transactionWorkMax) bytes of what is stored: use several transactions")
        }
    }

    mutating func rollBack(to mark: Mark) {
        while undo.count > mark.undo, let change = undo.popLast() {
            switch change {
            case .record(let key, let previous): records[key] = previous
            case .grant(let seat, .some(let previous)): grants.updateValue(previous, forKey: seat)
            case .grant(let seat, nil): grants[seat] = nil
            }
        }
        last = mark.last
        memberships.removeLast(memberships.count - mark.memberships)
        ledger.removeLast(ledger.count - mark.ledger)
    }

    /// The number of the last effect since the mark; of the repeated create when there was none.
    func lastEffect(since mark: Mark) -> SequenceNumber { last > mark.last ? last : repeated }

    mutating func noteRepetition(of seq: SequenceNumber) { repeated = max(repeated, seq) }

    /// The record as it is now, but for its body.
    func record(_ key: RecordKey) -> StoredRecord? { records[key]?.record }

    /// Notes that a step found no record, or no seat in its scope, and why it is refused.
    mutating func missing(_ key: RecordKey) -> Rejection {
        hasMissed = true
        return Rejection(.notFound, "\(key.collection): no such record")
    }

    /// Bytes of the record's body.
    func bytes(of key: RecordKey) -> Int { records[key]?.bytes ?? 0 }

    /// The record's fields, parsed once a batch.
    mutating func fields(of key: RecordKey, in collection: CollectionSchema) throws(Rejection) -> Fields {
        guard let working = records[key] else { return Fields() }
        if let fields = working.fields { return fields }
        if working.record.isDeleted { return Fields() }
        // Once to parse it, once to write it again.
        try spend(2 * working.bytes)
        do {
            let fields = collection.withStoredNames(try JSONReader.read(working.record.body) { try $0.fields() })
            records[key]?.fields = fields
            if collection.hasAliases { records[key]?.bytes = fields.jsonSize }
            return fields
        } catch {
            throw Rejection(.internalRejected, "the stored body of \(key) does not read")
        }
    }

    func isSharedScope(_ scope: ScopeID) -> Bool { sharedScopes.contains(scope) }

    func grant(_ seat: Seat) -> Grant? {
        if case .some(let changed) = grants[seat] { changed } else { base.grants[seat] }
    }

    /// Stages the next state of a record under the next number.
    ///
    /// - Parameters:
    ///   - bytes: of the body that the fields make.
    ///   - isEncoded: the record comes with that body; else it is made at the end of the batch.
    mutating func write(
        _ record: StoredRecord, fields: Fields, bytes: Int, isEncoded: Bool
    ) -> SequenceNumber {
        var record = record
        last += 1
        record.seq = last
        if record.born == 0 { record.born = last }
        let working = Working(
            record: record, fields: fields, bytes: bytes, isWritten: true, isEncoded: isEncoded)
        undo.append(.record(record.key, records.updateValue(working, forKey: record.key)))
        return last
    }

    /// Notes what the last write overwrote; `record` is the state before it.
    mutating func note(_ value: OverwrittenValue, of record: StoredRecord, by submission: Submission) {
        ledger.append(
            LedgerEntry(
                key: record.key, scope: record.scope, seq: last, value: value,
                oldAuthor: record.seq == record.born ? record.author : nil, author: submission.principal.user,
                client: submission.client, app: submission.app, time: time))
    }

    mutating func setGrant(_ change: MembershipChange) {
        let seat = Seat(user: change.user, scope: change.scope)
        let previous = grant(seat)
        let now = change.role.map { role in
            Grant(scope: change.scope, since: change.since ?? previous?.since ?? change.seq, role: role)
        }
        undo.append(.grant(seat, grants.updateValue(now, forKey: seat)))
        memberships.append(change)
    }
}
