import Testing
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

@Suite struct `Transactions` {
    private let room = Desk.mutation("rooms", 1, .create(["members": ["ann"]]))

    private func note(_ id: UInt64, _ text: FieldValue = "x") -> Mutation {
        Desk.mutation("notes", id, .create(["room": .string(Desk.id(1).description), "text": text]))
    }

    @Test func `all mutations of a transaction take effect, or none, and neighbours are unaffected`() throws {
        var desk = Desk()
        try desk.register(1, "ann")
        let planned = try desk.sequence([
            desk.submission(
                1, "ann", first: 1,
                [(1, [room]), (2, [note(10), note(11, 7)]), (3, [note(12)]), (4, [note(13), note(10)])])
        ])
        let batch = try #require(planned.batch)
        #expect(batch.records.map(\.key.id) == [1, 12, 13, 10].map(Desk.id))
        #expect(batch.settlements.first?.results.map(\.rejection?.code) == [nil, .invalid, nil, nil])
    }

    @Test func `a transaction that fails late leaves no record, no membership and no number behind`() throws {
        var desk = Desk()
        try desk.register(1, "ann")
        let planned = try desk.sequence([
            desk.submission(1, "ann", first: 1, [(1, [room, Desk.mutation("notes", 77, .delete)]), (2, [note(10)])])
        ])
        let batch = try #require(planned.batch)
        #expect(batch.records.isEmpty)
        #expect(batch.memberships.isEmpty)
        #expect(batch.settlements.first?.results.map(\.rejection?.code) == [.notFound, .forbidden])
        #expect(batch.low == 1)
        #expect(batch.head.seq == 1)
    }

    @Test func `a record changed twice in a batch is written once, in its last state and number`() throws {
        var desk = Desk()
        try desk.register(1, "ann")
        let likes = Desk.mutation("notes", 10, .update([NamedPatch("likes", .increment(2))]))
        let planned = try desk.sequence([
            desk.submission(1, "ann", first: 1, [(1, [room, note(10)]), (2, [likes]), (3, [likes])])
        ])
        let batch = try #require(planned.batch)
        #expect(batch.records.map(\.seq) == [1, 4])
        let note = try #require(batch.records.last)
        #expect(note.born == 2)
        let body = String(decoding: note.body, as: UTF8.self)
        #expect(body.contains(#""likes":4"#))
    }

    @Test func `a create repeated by its author is a success without effect, by another user a conflict`() throws {
        var desk = Desk()
        try desk.register(1, "ann")
        try desk.register(2, "bob")
        let shared = Desk.mutation("rooms", 1, .create(["members": ["ann", "bob"]]))
        #expect(try desk.settle(1, "ann", 1, shared, note(10)) == nil)
        #expect(try desk.settle(1, "ann", 2, note(10, "other")) == nil)
        #expect(try desk.settle(2, "bob", 1, note(10)) == .idConflict)
        #expect(try desk.settle(1, "ann", 3, Desk.mutation("notes", 10, .delete)) == nil)
        #expect(try desk.settle(1, "ann", 4, note(10)) == .gone)
    }

    @Test func `a deleted record is restored only by undelete`() throws {
        var desk = Desk()
        try desk.register(1, "ann")
        let fields: Fields = ["room": .string(Desk.id(1).description), "text": "back"]
        #expect(try desk.settle(1, "ann", 1, room, note(10)) == nil)
        #expect(try desk.settle(1, "ann", 2, Desk.mutation("notes", 10, .undelete(fields))) == .conflict)
        #expect(try desk.settle(1, "ann", 3, Desk.mutation("notes", 10, .delete)) == nil)
        #expect(try desk.settle(1, "ann", 4, Desk.mutation("notes", 10, .undelete(fields))) == nil)
        #expect(
            try desk.settle(1, "ann", 5, Desk.mutation("notes", 10, .update([NamedPatch("likes", .increment(1))])))
                == nil)
    }

    @Test func `a precondition refuses a record that changed since`() throws {
        var desk = Desk()
        try desk.register(1, "ann")
        #expect(try desk.settle(1, "ann", 1, room, note(10)) == nil)
        let like = Desk.mutation("notes", 10, .update([NamedPatch("likes", .increment(1))]))
        for (number, ifSeq, expected) in [(2, 2, nil), (3, 2, RejectionCode.conflict), (4, 3, nil)]
            as [(Int64, Int64, RejectionCode?)]
        {
            var submission = desk.submission(1, "ann", first: number, [(UInt64(900 + number), [like])])
            submission.entries[0].ifSeq = ifSeq
            guard case .settled(_, let results) = try desk.sequence([submission]).outcomes[0] else { continue }
            #expect(results[0].rejection?.code == expected)
        }
    }

    @Test func `server time never runs backwards along the order`() throws {
        var desk = Desk()
        try desk.register(1, "ann")
        #expect(try desk.settle(1, "ann", 1, room) == nil)
        desk.now = 10
        let planned = try desk.sequence([desk.submission(1, "ann", first: 2, [(2, [note(10)])])])
        #expect(planned.batch?.head.time == 1_000)
    }

    @Test func `a body over the limit is refused as too large`() throws {
        var desk = Desk()
        try desk.register(1, "ann")
        var big = Fields()
        for name in ["title"] { big[name] = .string(String(repeating: "x", count: 65_536)) }
        big["members"] = .array((0..<9_000).map { .string("a-user-with-a-long-name-\($0)") } + ["ann"])
        #expect(try desk.settle(1, "ann", 1, Desk.mutation("rooms", 1, .create(big))) == .tooLarge)
    }
}
