import Testing
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

@Suite struct `Conflict ledger` {
    private var desk = Desk()
    private let title: FieldSchema

    init() throws {
        title = try #require(Desk.schema.collection("rooms")?.field("title"))
        try desk.register(1, "ann")
        try desk.register(2, "bob")
        let fields: Fields = ["members": ["ann", "bob"], "title": "first"]
        #expect(try desk.settle(1, "ann", 1, Desk.mutation("rooms", 10, .create(fields))) == nil)
    }

    private func rename(_ value: FieldValue, seen: FieldValue?) -> Mutation {
        Desk.mutation("rooms", 10, .update([NamedPatch("title", .set(value), seen: ValueMark(seen, of: title))]))
    }

    @Test mutating func `a write over an unseen value is noted, a user's own next step is not`() throws {
        var writes = [desk.submission(1, "ann", first: 2, [(2, [rename("anns", seen: "first")])])]
        #expect(try desk.sequence(writes).batch?.ledger.isEmpty == true)
        writes = [
            desk.submission(1, "ann", first: 3, [(3, [rename("anns 2", seen: "anns")])]),
            desk.submission(2, "bob", first: 1, [(4, [rename("bobs", seen: "first")])]),
        ]
        writes[1].app = "demo 2"
        desk.now = 5_000
        let batch = try #require(try desk.sequence(writes).batch)
        #expect(
            batch.ledger == [
                LedgerEntry(
                    key: RecordKey(collection: "rooms", id: Desk.id(10)), scope: ScopeID(record: Desk.id(10)), seq: 4,
                    value: OverwrittenValue(field: "title", rule: .lww, old: "anns 2", new: "bobs"), oldAuthor: nil,
                    author: UserID("bob"), client: Desk.id(2), app: "demo 2", time: 5_000)
            ])
    }

    @Test mutating func `the author of a record's first state is known`() throws {
        let planned = try desk.sequence([desk.submission(2, "bob", first: 1, [(4, [rename("bobs", seen: nil)])])])
        #expect(planned.batch?.ledger.map(\.oldAuthor) == [UserID("ann")])
    }

    @Test mutating func `a write that changes nothing makes no entry`() throws {
        let mute = Desk.mutation("rooms", 10, .update([NamedPatch("title", .set("x"))]))
        #expect(try desk.sequence([desk.submission(2, "bob", first: 1, [(4, [mute])])]).batch?.ledger.isEmpty == true)
    }

    @Test mutating func `a transaction that is refused leaves no entry`() throws {
        let refused = [rename("bobs", seen: nil), Desk.mutation("rooms", 99, .delete)]
        let planned = try desk.sequence([desk.submission(2, "bob", first: 1, [(4, refused)])])
        #expect(planned.outcomes.first?.firstRefusal == .notFound)
        #expect(planned.batch?.ledger.isEmpty == true)
    }

    @Test mutating func `a repeated push makes no second entry`() throws {
        let push = desk.submission(2, "bob", first: 1, [(4, [rename("bobs", seen: nil)])])
        #expect(try desk.sequence([push]).batch?.ledger.count == 1)
        #expect(try desk.sequence([push]).batch == nil)
    }
}
