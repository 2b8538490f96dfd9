import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct WriteTests {
    @Test func `a write is visible, pending and queued`() throws {
        let bench = try Bench()
        #expect(try bench.write(1, .room()) == 1)
        #expect(try bench.write(2, .note(1, ["text": "hi"])) == 2)
        let row = try #require(try bench.row(.note(1)))
        #expect(row.fields == Fields(dictionaryLiteral: ("text", "hi")).inRoom(1))
        #expect(row.scope == RecordKey.room(1).scope)
        #expect(row.author == Bench.user)
        #expect(row.born == nil)
        #expect(row.seq == 0)
        #expect(row.created == 2)
        #expect(row.updated == nil)
        #expect(try bench.state(.note(1)) == "pending")
        #expect(try bench.database.step(of: .transaction(2)) == .queued)
        #expect(try bench.database.pendingCount() == 2)
    }

    @Test func `several records are written together or not at all`() throws {
        let bench = try Bench()
        let before = try bench.dump()
        #expect(bench.refusal(.room(), .note(1), .set(.note(2), "text", "x")) != nil)
        #expect(try bench.dump() == before)
        try bench.write(1, .room(), .note(1), .set(.note(1), "text", "x"), .delete(.room(1)))
        #expect(try bench.fields(.note(1))?["text"] == "x")
        #expect(try bench.row(.room(1)) == nil)
        #expect(try bench.database.pendingCount() == 1)
    }

    @Test func `a refusal names collection, field and reason`() throws {
        let bench = try Bench()
        try bench.write(1, .room(), .note(1))
        let id = RecordKey.note(1).id
        let cases: [(Mutation, RejectionCode, String)] = [
            (.set(.note(1), "text", 5), .invalid, "notes.text: must be string, not integer"),
            (.set(.note(1), "room", "x"), .invalid, "notes.room: cannot change after creation"),
            (.set(.note(1), "nope", 5), .invalid, "notes.nope: no such field in the schema"),
            (
                .set(.note(1), "text", .string(.init(repeating: "x", count: 101))), .tooLarge,
                "notes.text: 101 is over the limit of 100"
            ),
            (.note(1), .idConflict, "notes/\(id): the record exists already"),
            (.set(.note(9), "text", "x"), .notFound, "notes/\(RecordKey.note(9).id): no such record"),
            (.undelete(.note(1), Fields()), .conflict, "notes/\(id): the record is not deleted"),
            (
                .create(RecordKey(collection: "boats", id: id), Fields()), .unknownCollection,
                "boats: no such collection in the schema"
            ),
        ]
        for (mutation, code, message) in cases {
            let error = try #require(bench.refusal(mutation))
            #expect(error.code == .rejected(code))
            #expect(error.message == message)
        }
        #expect(bench.refusal()?.message == "the transaction has no mutations")
    }

    @Test func `a transaction is bounded in mutations, bytes and record size`() throws {
        var limits = LocalLimits()
        limits.model.mutationsMax = 2
        limits.model.recordBytesMax = 120
        limits.model.transactionBytesMax = 250
        let database = try LocalDatabase.inMemory(
            account: Bench.user, schema: try TestSchema.schema(), newClient: Bench.client, limits: limits)
        func write(_ mutations: [Mutation]) -> StoreError.Code? {
            do {
                try database.write(Transaction(id: .transaction(1), mutations: mutations, clientTime: 0))
                return nil
            } catch { return (error as? StoreError)?.code }
        }
        #expect(write([.room(1), .room(2), .room(3)]) == .rejected(.tooLarge))
        #expect(write([.note(1, ["text": .string(.init(repeating: "x", count: 90))])]) == .rejected(.tooLarge))
        #expect(write([.note(1), .note(2)]) == .rejected(.tooLarge))
        #expect(write([.room(1)]) == nil)
    }

    @Test func `the bounds that the server sent last apply, after the next start as well`() throws {
        let folder = try TemporaryFolder()
        let bench = try Bench(path: folder.path("a"))
        func told(_ record: Int, _ transaction: Int, _ mutations: Int) throws {
            var welcome = Welcome.make(state: .ok)
            welcome.limits.model.recordBytesMax = record
            welcome.limits.model.transactionBytesMax = transaction
            welcome.limits.model.mutationsMax = mutations
            try bench.database.welcomed(welcome)
        }
        let tags = (0..<10_000).map { FieldValue.string("tag \($0) \(String(repeating: "x", count: 24))") }
        let large = Mutation.note(1, ["tags": .array(tags)])
        let many = (2..<80).map { Mutation.note($0) }
        #expect(bench.refusal(large)?.code == .rejected(.tooLarge))
        #expect(throws: StoreError.self) {
            try bench.database.write(Transaction(id: .transaction(1), mutations: many, clientTime: 0))
        }
        try told(100, 200, 2)
        #expect(
            bench.refusal(.note(1, ["text": .string(String(repeating: "x", count: 60))]))?.code == .rejected(.tooLarge))
        #expect(bench.refusal(.note(1), .note(2))?.message.contains("and 200 bytes in one transaction") == true)
        #expect(bench.refusal(.note(1), .note(2), .note(3))?.message.contains("takes 2 mutations") == true)
        try told(1_000_000, 1_000_000, 100)
        try bench.database.close()
        let again = try LocalDatabase.open(
            path: folder.path("a"), account: Bench.user, schema: try TestSchema.schema(), newClient: Bench.client)
        try again.write(Transaction(id: .transaction(1), mutations: [large], clientTime: 0))
        try again.write(Transaction(id: .transaction(2), mutations: many, clientTime: 0))
    }

    @Test func `merge rules fold writes as the server will`() throws {
        let bench = try Bench()
        try bench.write(1, .room(), .note(1, ["likes": 1, "tags": ["b"], "best": 1.5]))
        try bench.write(
            2,
            .update(
                .note(1),
                [
                    NamedPatch("likes", .increment(2)), NamedPatch("tags", .add(["a"])), NamedPatch("best", .max(1.0)),
                    NamedPatch("weight", .set(3)),
                ]))
        try bench.write(3, .update(.note(1), [NamedPatch("tags", .remove(["b"])), NamedPatch("seen", .add(["ann"]))]))
        let expected: Fields = ["likes": 3, "tags": ["a"], "best": 1.5, "weight": 3.0, "seen": ["ann"]]
        #expect(try bench.fields(.note(1)) == expected.inRoom(1))
    }

    @Test func `a record that was deleted here can be restored, also in the same transaction`() throws {
        let bench = try Bench()
        try bench.write(1, .room(), .note(1, ["text": "a"]))
        try bench.write(2, .delete(.note(1)))
        #expect(bench.refusal(.note(1))?.code == .rejected(.gone))
        #expect(bench.refusal(.set(.note(1), "text", "b"))?.code == .rejected(.gone))
        try bench.write(3, .undelete(.note(1), Fields(dictionaryLiteral: ("text", "b")).inRoom(1)))
        #expect(try bench.fields(.note(1))?["text"] == "b")
        try bench.write(4, .delete(.note(1)), .undelete(.note(1), Fields().inRoom(1)))
        #expect(try bench.fields(.note(1)) == Fields().inRoom(1))
    }

    @Test func `a restored record keeps counters and growing sets, and belongs to the user who restored it`() throws {
        let bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(.room(1, seq: 1), .note(1, seq: 2, ["text": "a", "likes": 3, "seen": ["bob"]]))
        let written: Fields = ["text": "b", "likes": 9, "seen": ["ann"]]
        try bench.write(1, .delete(.note(1)), .undelete(.note(1), written.inRoom(1)))
        let expected: Fields = ["text": "b", "likes": 3, "seen": ["bob"]]
        #expect(try bench.fields(.note(1)) == expected.inRoom(1))
        #expect(try bench.row(.note(1))?.author == Bench.user)
    }
}
