import Testing
import TidemarkModel
import TidemarkOperations
import TidemarkStore

/// The changes of a record and their users, by what is stored of the order.
@Suite struct RecordHistoryTests {
    private static let key = RecordKey(collection: "notes", id: Sample.id(1))
    private static let (ann, bob) = (UserID("ann"), UserID("bob"))

    private func state(
        _ seq: SequenceNumber, _ body: String?, born: SequenceNumber = 1
    ) -> StoredRecord {
        StoredRecord(
            key: Self.key, scope: ScopeID("s"), seq: seq, born: born, isDeleted: body == nil, author: Self.ann,
            created: 1,
            updated: seq, body: Array((body ?? "").utf8))
    }

    /// A batch of three numbers whose middle one belongs to a transaction of the user.
    private func batch(_ low: SequenceNumber, _ body: String?, by user: UserID, kept: Bool = true) -> TailBatch {
        let head = Head(seq: low + 2, nonce: 7, time: low * 10, epoch: 1)
        var batch = CommittedBatch(low: low, head: head, records: [state(low + 1, body, born: 2)])
        func settled(_ user: UserID, _ client: UInt64, through seq: SequenceNumber) -> Settlement {
            Settlement(
                client: ClientRow(id: Sample.id(client), user: user),
                results: [TransactionOutcome(number: 1, transaction: Sample.id(9), seq: seq, time: 1, rejection: nil)])
        }
        batch.settlements = [
            settled(UserID("early"), 50, through: low), settled(UserID("late"), 51, through: low + 2),
            settled(user, 52, through: low + 1),
        ]
        return TailBatch(low: low, head: head, batch: kept ? batch : nil)
    }

    @Test func `each write has its writer and the fields that it changed, the newest first`() {
        let batches = [
            batch(1, #"{"a":1,"b":2}"#, by: Self.ann), batch(4, #"{"a":1,"b":3}"#, by: Self.bob),
            batch(7, nil, by: Self.ann), batch(10, #"{"c":1}"#, by: Self.bob),
        ]
        let history = RecordHistory(of: state(11, #"{"c":1}"#, born: 2), batches: batches, ledger: [])
        #expect(history.knownFrom == 2, "from its beginning")
        #expect(history.steps.map(\.seq) == [11, 8, 5, 2])
        #expect(history.steps.map(\.kind) == [.restored, .deleted, .changed, .created])
        #expect(history.steps.map(\.author) == [Self.bob, Self.ann, Self.bob, Self.ann])
        #expect(history.steps.map(\.client) == Array(repeating: Sample.id(52), count: 4))
        #expect(history.steps[2].changes == [.init(field: "b", old: 2, new: 3)])
        #expect(history.steps[3].changes.map(\.field) == ["a", "b"])
        #expect(history.steps[2].time == 40)
    }

    @Test func `writes before a gap are not presented as the whole history`() {
        let batches = [
            batch(1, #"{"a":1}"#, by: Self.ann), batch(4, #"{"a":2}"#, by: Self.bob, kept: false),
            batch(7, #"{"a":3}"#, by: Self.bob), batch(10, #"{"a":4}"#, by: Self.ann),
        ]
        let history = RecordHistory(of: state(11, #"{"a":4}"#, born: 2), batches: batches, ledger: [])
        #expect(history.knownFrom == 7)
        #expect(history.steps.map(\.kind) == [.changed, .found, .created])
        #expect(history.steps[1].changes.isEmpty, "what it was before is not known")
        #expect(history.steps[0].changes == [.init(field: "a", old: 3, new: 4)])
    }

    @Test func `the ledger adds who overwrote which unseen value, with batches and without`() {
        func entry(_ seq: SequenceNumber, old: FieldValue, new: FieldValue) -> LedgerEntry {
            LedgerEntry(
                key: Self.key, scope: ScopeID("s"), seq: seq,
                value: OverwrittenValue(field: "a", rule: .lww, old: old, new: new), oldAuthor: nil, author: Self.bob,
                client: Sample.id(60), app: "chat/2", time: seq * 100)
        }
        let ledger = [entry(11, old: 3, new: 4), entry(5, old: 1, new: 3)]
        let batches = [batch(7, #"{"a":3}"#, by: Self.bob), batch(10, #"{"a":4}"#, by: Self.bob)]
        let history = RecordHistory(of: state(11, #"{"a":4}"#, born: 2), batches: batches, ledger: ledger)
        #expect(history.steps.map(\.seq) == [11, 8, 5])
        #expect(history.steps[0].changes == [.init(field: "a", old: 3, new: 4, isUnseen: true)])
        #expect(history.steps[0].app == "chat/2")
        #expect(history.steps[2].kind == .overwrote && history.steps[2].author == Self.bob)
        #expect(history.steps[2].changes == [.init(field: "a", old: 1, new: 3, isUnseen: true)])
    }

    @Test func `without stored bodies nothing is known`() {
        let batches = [batch(1, "{}", by: Self.ann, kept: false), batch(4, "{}", by: Self.ann, kept: false)]
        let history = RecordHistory(of: state(5, "{}", born: 2), batches: batches, ledger: [])
        #expect(history.steps.isEmpty && history.knownFrom == 7)
    }
}
