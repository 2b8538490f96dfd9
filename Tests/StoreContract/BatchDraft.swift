import TidemarkModel
import TidemarkStore

/// A batch in the making: numbers its records from the head on.
struct BatchDraft {
    private(set) var batch: CommittedBatch

    init(after head: Head, time: Milliseconds = 1_000) {
        let low = head.seq + 1
        let nonce = UInt64(bitPattern: low) &* 0x9e37_79b9_7f4a_7c15 | 1 << 63
        batch = CommittedBatch(low: low, head: Head(seq: head.seq, nonce: nonce, time: time, epoch: head.epoch))
    }

    /// The number that the next change gets.
    var next: SequenceNumber { batch.head.seq + 1 }

    /// The reads that the batch needs.
    var reads: ReadSet {
        var reads = ReadSet()
        reads.clients = batch.settlements.map(\.client.id)
        reads.records = batch.records.map(\.key)
        return reads
    }

    /// Adds a state of a record; a new record is born with it.
    @discardableResult
    mutating func put(
        _ id: LocalID, in scope: ScopeID = .a, collection: String = "message", born: SequenceNumber? = nil,
        body: String? = "{}"
    ) -> SequenceNumber {
        let seq = skip()
        batch.records.append(
            StoredRecord(
                key: RecordKey(collection: collection, id: id), scope: scope, seq: seq, born: born ?? seq,
                isDeleted: body == nil, author: .ann, created: 1, updated: batch.head.time,
                body: Array((body ?? "").utf8)))
        return seq
    }

    /// Adds a membership that begins.
    mutating func grant(_ user: UserID, _ scope: ScopeID, _ role: Role = .member) {
        let seq = skip()
        batch.memberships.append(MembershipChange(user: user, scope: scope, role: role, seq: seq, since: seq))
    }

    /// Adds a membership that continues with another role.
    mutating func changeRole(_ user: UserID, _ scope: ScopeID, _ role: Role) {
        batch.memberships.append(MembershipChange(user: user, scope: scope, role: role, seq: skip(), since: nil))
    }

    /// Adds a membership that ends.
    mutating func revoke(_ user: UserID, _ scope: ScopeID) {
        batch.memberships.append(MembershipChange(user: user, scope: scope, role: nil, seq: skip(), since: nil))
    }

    /// Settles the client through `number`. Each number after its last gets a result: a refusal if `refusing` has it.
    mutating func settle(_ row: ClientRow, through number: Int64, refusing: Set<Int64> = []) {
        var client = row
        client.settledThrough = number
        let results = (row.settledThrough..<max(number, row.settledThrough)).map { before in
            TransactionOutcome(
                number: before + 1, transaction: .numbered(9_000 + before), seq: next,
                time: batch.head.time,
                rejection: refusing.contains(before + 1) ? Rejection(.forbidden, "not a \"member\"") : nil)
        }
        batch.settlements.append(Settlement(client: client, results: results))
        if batch.head.seq < batch.low { skip() }
    }

    /// Ends the registration of a client.
    mutating func remove(_ client: ClientID) {
        batch.removals.append(client)
        if batch.head.seq < batch.low { skip() }
    }

    /// Takes numbers without changing anything.
    @discardableResult
    mutating func skip(_ count: Int64 = 1) -> SequenceNumber {
        batch.head.seq += count
        return batch.head.seq
    }

    /// Changes the batch in ways that the contract forbids.
    mutating func tamper(_ change: (inout CommittedBatch) -> Void) { change(&batch) }
}

extension UniqueID {
    /// A UUID that is easy to recognise in a failure.
    static func numbered(_ number: Int64) -> UniqueID {
        UniqueID(high: 0x018f_3a2b_0000_7000, low: 1 << 63 | UInt64(bitPattern: number))
    }
}

extension UserID {
    static let ann = UserID("ann")
    static let bob = UserID("bob")
}

extension ScopeID {
    static let a = ScopeID("a")
    static let b = ScopeID("b")
    static let c = ScopeID("c")
}
