import Testing
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// A `manual` field that others changed since its writer saw it does not stop the rest of its transaction.
@Suite struct ContestedFieldsTests {
    private static let schema = #"""
        {"tidemark": 1, "collections": {"cards": {"scope": {"shared": "all"}, "fields": {
          "title": "string", "plan": {"type": "string", "merge": "manual", "was": "aim"},
          "cost": {"type": "integer", "merge": "manual"}, "votes": {"type": "integer", "merge": "counter"}}}}}
        """#
    private let admission: Admission
    private let sequencer = Sequencer(limits: ModelLimits())
    private let cards: CollectionSchema
    private var tables = MemoryTables()
    private var number: Int64 = 0
    private static let workspace = WorkspaceID("w")
    private static let key = RecordKey(collection: "cards", id: UniqueID(high: 1, low: 1))

    init() throws {
        let schema = try Schema(json: Array(Self.schema.utf8))
        cards = try #require(schema.collection("cards"))
        admission = Admission(schema: schema, limits: ModelLimits())
        _ = tables.register(UniqueID(high: 9, low: 9), for: UserID("ann"), in: Self.workspace, now: 1)
        _ = try settle([Mutation(key: Self.key, action: .create(["title": "a", "plan": "theirs", "cost": 1]))])
    }

    private mutating func settle(_ mutations: [Mutation], ifSeq: SequenceNumber? = nil) throws -> TransactionOutcome {
        number += 1
        let transaction = Transaction(
            id: UniqueID(high: 2, low: UInt64(number)), mutations: mutations, clientTime: 0, ifSeq: ifSeq)
        let principal = Principal(user: UserID("ann"), isService: false)
        let submission = Submission(
            client: UniqueID(high: 9, low: 9), principal: principal, connection: 1, ackedThrough: 0, first: number,
            entries: [admission.admit(Push.Entry(transaction), from: principal)], bytes: 1)
        let base = tables.read(sequencer.reads(for: [submission]), in: Self.workspace)
        let planned = sequencer.plan([submission], on: base, now: 1, nonce: UInt64(number))
        if let batch = planned.batch { try tables.write(batch, in: Self.workspace) }
        guard case .settled(_, let results) = planned.outcomes.first, let result = results.first else {
            throw StoreError(.invariant, "not settled")
        }
        return result
    }

    private func body(_ key: RecordKey = key) -> String {
        tables.records(in: Self.workspace).first { $0.key == key }.map { String(decoding: $0.body, as: UTF8.self) }
            ?? ""
    }

    /// Plan was seen as `old`, and is `theirs`.
    private func plan(_ value: FieldValue) throws -> NamedPatch {
        NamedPatch("plan", .set(value), seen: ValueMark("old", of: try #require(cards.field("plan"))))
    }

    private func update(_ patches: NamedPatch...) -> Mutation { Mutation(key: Self.key, action: .update(patches)) }

    @Test mutating func `the other fields and records of the transaction take effect in its position`() throws {
        let other = RecordKey(collection: "cards", id: UniqueID(high: 1, low: 2))
        let outcome = try settle([
            update(try plan("mine"), NamedPatch("title", .set("b")), NamedPatch("votes", .increment(2))),
            Mutation(key: other, action: .create(["title": "new"])),
        ])
        #expect(outcome.rejection == nil)
        #expect(outcome.contested == [ContestedFields(key: Self.key, fields: ["plan"])])
        #expect(body() == #"{"aim":"theirs","cost":1,"title":"b","votes":2}"#)
        #expect(body(other) == #"{"title":"new"}"#)
        #expect(outcome.seq == 3)
    }

    @Test mutating func `a mutation of only contested fields takes no number`() throws {
        let cost = NamedPatch("cost", .set(9), seen: ValueMark(1, of: try #require(cards.field("cost"))))
        let outcome = try settle([update(try plan("mine")), update(cost)])
        #expect(outcome.contested == [ContestedFields(key: Self.key, fields: ["plan"])])
        #expect(outcome.rejection == nil && outcome.seq == 2)
        #expect(body() == #"{"aim":"theirs","cost":9,"title":"a"}"#)
    }

    @Test mutating func `a transaction of only contested fields is refused`() throws {
        let outcome = try settle([update(try plan("mine"))])
        #expect(outcome.rejection == Rejection(.conflict, "cards.aim: changed since the writer saw it"))
        #expect(outcome.contested == [ContestedFields(key: Self.key, fields: ["plan"])])
        #expect(body() == #"{"aim":"theirs","cost":1,"title":"a"}"#)
    }

    @Test mutating func `writing the present value contests nothing`() throws {
        let outcome = try settle([update(try plan("theirs"), NamedPatch("title", .set("b")))])
        #expect(outcome.rejection == nil && outcome.contested.isEmpty)
    }

    @Test mutating func `another mistake, or a condition, refuses the whole transaction`() throws {
        let wrong = try settle([update(try plan("mine"), NamedPatch("votes", .set(2)))])
        #expect(wrong.rejection?.code == .invalid && wrong.contested.isEmpty)
        let late = try settle([update(try plan("mine"), NamedPatch("title", .set("b")))], ifSeq: 0)
        #expect(late.rejection?.code == .conflict && late.contested.isEmpty)
        #expect(body() == #"{"aim":"theirs","cost":1,"title":"a"}"#)
    }

    @Test mutating func `a field is named as its writer knows it, and the outcome is stored like that`() throws {
        let patch = NamedPatch("aim", .set("mine"), seen: try plan("mine").seen)
        let outcome = try settle([update(patch, NamedPatch("title", .set("b")))])
        #expect(outcome.contested.map(\.fields) == [["aim"]])
        let row = ClientRow(id: UniqueID(high: 9, low: 9), user: UserID("ann"))
        let refused = try settle([update(patch)])
        let stored = StoredClient(row: row, kept: [outcome, refused])
        #expect(try StoredClient(row: row, keptBytes: stored.keptBytes) == stored)
    }
}
