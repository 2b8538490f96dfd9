import TidemarkModel
import TidemarkStore

/// The state that a batch builds up: what was read, overlaid by what the batch wrote so far. Changes are journalled so
/// that a refused transaction leaves no trace.
struct StagedState {
    /// A record with its fields at hand.
    struct Working {
        var record: StoredRecord
        /// Parsed on first use.
        var fields: Fields?
        var isWritten: Bool
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
        case grant(Seat, Grant?)
    }

    let time: Milliseconds
    /// The last number given.
    private(set) var last: SequenceNumber
    private(set) var memberships: [MembershipChange] = []
    /// What was overwritten unseen, in the order of the writes.
    private(set) var ledger: [LedgerEntry] = []
    /// The number that a repeated create stands for, when the transaction had no effect of its own.
    private var repeated: SequenceNumber = 0
    private let sharedScopes: Set<ScopeID>
    private var records: [RecordKey: Working] = [:]
    private var grants: [Seat: Grant]
    private var undo: [Undo] = []

    init(reads: ReadResult, time: Milliseconds, sharedScopes: Set<ScopeID>) {
        self.time = time
        self.sharedScopes = sharedScopes
        last = reads.head.seq
        grants = reads.grants
        records.reserveCapacity(reads.records.count + reads.clients.count)
        for (key, record) in reads.records { records[key] = Working(record: record, fields: nil, isWritten: false) }
    }

    /// Final states in the order of their numbers.
    var writtenRecords: [StoredRecord] {
        records.values.filter(\.isWritten).map(\.record).sorted { $0.seq < $1.seq }
    }

    mutating func mark() -> Mark {
        undo.removeAll(keepingCapacity: true)
        repeated = 0
        return Mark(undo: undo.count, last: last, memberships: memberships.count, ledger: ledger.count)
    }

    mutating func rollBack(to mark: Mark) {
        while undo.count > mark.undo, let change = undo.popLast() {
            switch change {
            case .record(let key, let previous): records[key] = previous
            case .grant(let seat, let previous): grants[seat] = previous
            }
        }
        last = mark.last
        memberships.removeLast(memberships.count - mark.memberships)
        ledger.removeLast(ledger.count - mark.ledger)
    }

    /// The number of the last effect since the mark; of the repeated create when there was none.
    func lastEffect(since mark: Mark) -> SequenceNumber { last > mark.last ? last : repeated }

    mutating func noteRepetition(of seq: SequenceNumber) { repeated = max(repeated, seq) }

    func record(_ key: RecordKey) -> StoredRecord? { records[key]?.record }

    /// The record's fields, parsed once a batch.
    mutating func fields(of key: RecordKey, in collection: CollectionSchema) throws(Rejection) -> Fields {
        guard let working = records[key] else { return Fields() }
        if let fields = working.fields { return fields }
        if working.record.isDeleted { return Fields() }
        do {
            let fields = collection.withStoredNames(try JSONReader.read(working.record.body) { try $0.fields() })
            records[key]?.fields = fields
            return fields
        } catch {
            throw Rejection(.internalRejected, "the stored body of \(key) does not read")
        }
    }

    func isSharedScope(_ scope: ScopeID) -> Bool { sharedScopes.contains(scope) }

    func grant(_ seat: Seat) -> Grant? { grants[seat] }

    /// Stages the next state of a record under the next number.
    mutating func write(_ record: StoredRecord, fields: Fields) -> SequenceNumber {
        var record = record
        last += 1
        record.seq = last
        if record.born == 0 { record.born = last }
        undo.append(.record(record.key, records[record.key]))
        records[record.key] = Working(record: record, fields: fields, isWritten: true)
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
        let previous = grants[seat]
        undo.append(.grant(seat, previous))
        grants[seat] = change.role.map { role in
            Grant(scope: change.scope, since: change.since ?? previous?.since ?? change.seq, role: role)
        }
        memberships.append(change)
    }
}
