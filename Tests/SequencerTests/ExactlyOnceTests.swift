import Testing
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

@Suite struct `Exactly once` {
    private let like = Desk.mutation("notes", 10, .update([NamedPatch("likes", .increment(1))]))

    private func desk() throws -> Desk {
        var desk = Desk()
        try desk.register(1, "ann")
        let room = Desk.mutation("rooms", 1, .create(["members": ["ann"]]))
        let note = Desk.mutation("notes", 10, .create(["room": .string(Desk.id(1).description)]))
        #expect(try desk.settle(1, "ann", 1, room, note) == nil)
        return desk
    }

    private func likes(_ desk: Desk) throws -> FieldValue? {
        let record = try #require(desk.tables.read(reads, in: Desk.workspace).records.values.first)
        return try JSONReader.read(record.body) { try $0.fields() }["likes"]
    }

    private var reads: ReadSet {
        var reads = ReadSet()
        reads.records = [RecordKey(collection: "notes", id: Desk.id(10))]
        return reads
    }

    @Test func `a repeated transaction has one effect and the same answer`() throws {
        var desk = try desk()
        let submission = desk.submission(1, "ann", first: 2, [(700, [like]), (701, [like])])
        let first = try desk.sequence([submission, submission])
        let second = try desk.sequence([submission])
        #expect(first.outcomes[0] == first.outcomes[1])
        #expect(first.outcomes[0] == second.outcomes[0])
        #expect(second.batch == nil)
        #expect(try likes(desk) == 2)
    }

    @Test func `a refusal is remembered like an effect`() throws {
        var desk = try desk()
        let bad = Desk.mutation("notes", 10, .update([NamedPatch("nope", .set(1))]))
        let submission = desk.submission(1, "ann", first: 2, [(700, [bad])])
        let first = try desk.sequence([submission])
        let second = try desk.sequence([submission])
        #expect(first.outcomes == second.outcomes)
        #expect(first.batch?.records.isEmpty == true)
        #expect(first.batch.map { $0.low == $0.head.seq } == true)
    }

    @Test func `another transaction under a settled number is a fork, and nothing of it happens`() throws {
        var desk = try desk()
        try desk.sequence([desk.submission(1, "ann", first: 2, [(700, [like])])])
        let clone = try desk.sequence([desk.submission(1, "ann", first: 2, [(999, [like])])])
        #expect(clone.outcomes == [.forked])
        #expect(clone.batch == nil)
        #expect(try likes(desk) == 1)
    }

    @Test func `a number whose result the client acknowledged cannot be sent again`() throws {
        var desk = try desk()
        let old = desk.submission(1, "ann", first: 2, [(700, [like])])
        try desk.sequence([old])
        try desk.sequence([desk.submission(1, "ann", first: 3, acked: 2, [(701, [like])])])
        #expect(try desk.sequence([old]).outcomes == [.forked])
        #expect(try likes(desk) == 2)
    }

    @Test func `a late push of an older connection is dropped without a judgement`() throws {
        var desk = try desk()
        try desk.sequence([desk.submission(1, "ann", first: 2, connection: 5, acked: 1, [(700, [like])])])
        let ghost = try desk.sequence([desk.submission(1, "ann", first: 1, connection: 4, [(999, [like])])])
        #expect(ghost.outcomes == [.stale])
    }

    @Test func `a gap is reported and nothing behind it is examined`() throws {
        var desk = try desk()
        let planned = try desk.sequence([desk.submission(1, "ann", first: 4, [(700, [like])])])
        #expect(planned.outcomes == [.gap(settledThrough: 1)])
        #expect(try likes(desk) == nil)
    }

    @Test func `a client id is valid only for the user that registered it`() throws {
        var desk = try desk()
        #expect(try desk.sequence([desk.submission(1, "eve", first: 2, [(700, [like])])]).outcomes == [.unknownClient])
        #expect(try desk.sequence([desk.submission(9, "ann", first: 1, [(700, [like])])]).outcomes == [.unknownClient])
    }

    @Test func `acknowledgements beyond the settled number are cut to it`() throws {
        var desk = try desk()
        let planned = try desk.sequence([desk.submission(1, "ann", first: 2, acked: .max, [(700, [like])])])
        #expect(planned.batch?.settlements.first?.client.ackedThrough == 2)
    }
}
