import Testing
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// The server under a schema with renamed and removed names, and the writes of older and newer apps.
@Suite struct `Fields with former names` {
    private static let schema = #"""
        {"tidemark": 1, "removed": ["logs"], "collections": {"cards": {
            "scope": {"shared": "all"}, "removed": ["stamp"], "fields": {
                "title": {"type": "string", "was": ["name", "label"], "required": true, "max": 20},
                "votes": {"type": "integer", "merge": "counter", "was": "likes"}, "hue": {"type": "string", "merge": "manual", "was": "tone"}}}}}
        """#

    private let admission: Admission
    private let sequencer: Sequencer
    private var tables = MemoryTables()
    private var number: Int64 = 0
    private static let workspace = WorkspaceID("w")
    private static let key = RecordKey(collection: "cards", id: UniqueID(high: 1, low: 1))

    init() throws {
        let schema = try Schema(json: Array(Self.schema.utf8))
        admission = Admission(schema: schema, limits: ModelLimits())
        sequencer = Sequencer(limits: ModelLimits())
        _ = tables.register(UniqueID(high: 9, low: 9), for: UserID("ann"), in: Self.workspace, now: 1)
    }

    private mutating func settle(_ actions: Mutation.Action..., key: RecordKey = key) throws -> Rejection? {
        try settle(actions.map { Mutation(key: key, action: $0) })
    }

    private mutating func settle(_ mutations: [Mutation]) throws -> Rejection? {
        number += 1
        let transaction = Transaction(
            id: UniqueID(high: 2, low: UInt64(number)), mutations: mutations, clientTime: 0)
        let principal = Principal(user: UserID("ann"), isService: false)
        let submission = Submission(
            client: UniqueID(high: 9, low: 9), principal: principal, connection: 1, ackedThrough: 0, first: number,
            entries: [admission.admit(Push.Entry(transaction), from: principal)], bytes: 1)
        let base = tables.read(sequencer.reads(for: [submission]), in: Self.workspace)
        let planned = sequencer.plan([submission], on: base, now: 1, nonce: UInt64(number))
        if let batch = planned.batch { try tables.write(batch, in: Self.workspace) }
        guard case .settled(_, let results) = planned.outcomes.first else {
            throw StoreError(.invariant, "not settled")
        }
        return results.first?.rejection
    }

    private var body: String {
        tables.records(in: Self.workspace).first { $0.key == Self.key }.map { String(decoding: $0.body, as: UTF8.self) }
            ?? ""
    }

    @Test mutating func `every name that a field had is one field, stored under the first`() throws {
        #expect(try settle(.create(["label": "a", "likes": 2])) == nil)
        #expect(body == #"{"likes":2,"name":"a"}"#)
        #expect(try settle(.update([NamedPatch("votes", .increment(1))])) == nil)
        #expect(try settle(.update([NamedPatch("likes", .increment(1)), NamedPatch("title", .set("b"))])) == nil)
        #expect(body == #"{"likes":4,"name":"b"}"#)
        #expect(try settle(.update([NamedPatch("name", .unset)]))?.code == .invalid)
    }

    @Test mutating func `a value is accepted under one name only`() throws {
        #expect(try settle(.create(["name": "a", "title": "b"]))?.code == .invalid)
        #expect(try settle(.create(["name": "a"])) == nil)
        let twice: [NamedPatch] = [NamedPatch("name", .set("b")), NamedPatch("title", .set("c"))]
        #expect(try settle(.update(twice))?.message == "cards.title: patched twice in one mutation")
    }

    @Test mutating func `seen values are compared under every name`() throws {
        #expect(try settle(.create(["name": "a", "hue": "red"])) == nil)
        let seen = ValueMark(.string("red"), of: FieldSchema(name: "hue", type: .string))
        #expect(try settle(.update([NamedPatch("tone", .set("blue"), seen: seen)])) == nil)
        #expect(try settle(.update([NamedPatch("hue", .set("green"), seen: seen)]))?.code == .conflict)
        #expect(body == #"{"name":"a","tone":"blue"}"#)
    }

    @Test mutating func `values that earlier servers stored under a newer name are still valid`() throws {
        let body = Array(#"{"label":"newer","likes":1,"name":"older","votes":5}"#.utf8)
        let record = StoredRecord(
            key: Self.key, scope: ScopeID("all"), seq: 1, born: 1, isDeleted: false, author: UserID("ann"), created: 1,
            updated: 1, body: body)
        try tables.write(
            CommittedBatch(low: 1, head: Head(seq: 1, nonce: 77, time: 1, epoch: 1), records: [record]),
            in: Self.workspace)
        #expect(try settle(.update([NamedPatch("likes", .increment(1))])) == nil)
        #expect(self.body == #"{"likes":6,"name":"newer"}"#)
    }

    @Test mutating func `removed fields are left out, and the rest takes effect`() throws {
        let log = Mutation(
            key: RecordKey(collection: "logs", id: UniqueID(high: 1, low: 2)), action: .create(["what": "moved"]))
        let card = Mutation(key: Self.key, action: .create(["name": "a", "stamp": 7]))
        #expect(try settle([card, log]) == nil)
        #expect(body == #"{"name":"a"}"#)
        #expect(tables.records(in: Self.workspace).count == 1)
        #expect(try settle(.update([NamedPatch("stamp", .set(8)), NamedPatch("name", .set("b"))])) == nil)
        #expect(body == #"{"name":"b"}"#)
        #expect(try settle([log])?.message == "logs: the schema has removed this collection")
        let stamp = try settle(.update([NamedPatch("stamp", .set(9))]))
        #expect(stamp == Rejection(.invalid, "cards.stamp: the schema has removed this"))
    }

    @Test mutating func `a typo is refused as before, with its whole transaction`() throws {
        let card = Mutation(key: Self.key, action: .create(["name": "a"]))
        let lost = Mutation(key: RecordKey(collection: "lgos", id: Self.key.id), action: .create([:]))
        #expect(try settle([card, lost])?.code == .unknownCollection)
        #expect(try settle(.create(["name": "a", "stmap": 1]))?.code == .invalid)
        #expect(body.isEmpty)
    }
}
