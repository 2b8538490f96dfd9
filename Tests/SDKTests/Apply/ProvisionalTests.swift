import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Writes of this device that are settled as committed stay visible until later pages of their scope bring the server's
/// row.
@Suite struct ProvisionalTests {
    private let room = RecordKey.room(1).scope

    private func gained(at seq: SequenceNumber) -> Changes.GrantChange { .init(scope: room, since: seq, role: .owner) }

    /// A room and a note in it, created here, then granted and settled by a frame without rows: the end of a catch-up.
    private func settledBench(_ bench: Bench? = nil) throws -> Bench {
        let bench = try bench ?? Bench()
        try bench.join()
        try bench.write(1, .room(1), .note(1, ["text": "mine"]))
        try bench.apply(settled: .accepted(1, 1), grants: [gained(at: 7)])
        return bench
    }

    @Test func `a create that is settled before its scope is filled stays visible until a page brings it`() throws {
        let bench = try settledBench()
        let shown = try #require(try bench.row(.note(1)))
        #expect(shown.fields == Fields(dictionaryLiteral: ("text", "mine")).inRoom(1))
        #expect(shown.seq == 0 && shown.born == nil && shown.author == Bench.user)
        #expect(try bench.row(.room(1)) != nil)
        #expect(try bench.state(.note(1)) == "synced")
        for table in ["outbox", "outbox_record", "base", "tombstone"] {
            #expect(try bench.count("tidemark_\(table)") == 0)
        }
        try bench.page(room, since: 7, "rooms", .room(1, seq: 7))
        try bench.page(room, since: 7, "notes", .note(1, seq: 9, born: 8, author: "ann", ["text": "edited"]))
        #expect(try bench.fields(.note(1))?["text"] == "edited")
        #expect(try bench.row(.note(1))?.born == 8)
        #expect(try bench.count("notes") == 1 && bench.count("rooms") == 1)
    }

    @Test func `a scope that the welcome named is filled as well`() throws {
        let bench = try Bench()
        try bench.join()
        try bench.write(1, .room(1))
        try bench.database.welcomed(.make(state: .ok, added: [gained(at: 7)], settledThrough: 1))
        try bench.apply(settled: .accepted(1, 1))
        #expect(try bench.state(.room(1)) == "synced")
    }

    @Test func `it survives a restart of the app`() throws {
        let folder = try TemporaryFolder()
        do { _ = try settledBench(try Bench(path: folder.path("a"))) }
        let again = try Bench(path: folder.path("a"))
        #expect(try again.fields(.note(1))?["text"] == "mine")
        try again.page(room, since: 7, "rooms", .room(1, seq: 7))
        try again.page(room, since: 7, "notes")
        #expect(try again.row(.note(1)) == nil)
        #expect(try again.row(.room(1))?.seq == 7)
    }

    @Test func `the complete scope keeps only the server's records, and pending ones until they are judged`() throws {
        let bench = try settledBench()
        try bench.write(2, .note(2))
        try bench.apply(from: "c1", to: "c2", settled: .accepted(2, 2))
        try bench.write(3, .set(.note(2), "text", "more"))
        try bench.page(room, since: 7, "notes")
        // Another user deleted both notes; only the end of filling shows that.
        #expect(try bench.count("notes") == 2)
        try bench.page(room, since: 7, "rooms", .room(1, seq: 7))
        #expect(try bench.row(.note(1)) == nil)
        #expect(try bench.fields(.note(2))?["text"] == "more")
        try bench.apply(from: "c2", to: "c3", settled: .refused(3, 3, .gone))
        #expect(try bench.count("notes") == 0 && bench.count("tidemark_base") == 0)
    }

    @Test func `the server's own tombstone ends it at once`() throws {
        let bench = try settledBench()
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 11, born: 8, deleted: true))
        #expect(try bench.row(.note(1)) == nil)
        #expect(try bench.count("tidemark_tombstone") == 1)
    }

    @Test func `later writes are applied over it, and a refused one leaves it unchanged`() throws {
        let bench = try settledBench()
        try bench.write(2, .update(.note(1), [NamedPatch("likes", .increment(2))]))
        try bench.write(3, .update(.note(1), [NamedPatch("likes", .increment(40))]))
        #expect(try bench.fields(.note(1))?["likes"] == 42)
        try bench.apply(from: "c1", to: "c2", settled: .accepted(2, 2))
        #expect(try bench.fields(.note(1))?["likes"] == 42)
        #expect(try bench.state(.note(1)) == "pending")
        try bench.apply(from: "c2", to: "c3", settled: .refused(3, 3, .forbidden))
        #expect(try bench.fields(.note(1))?["likes"] == 2)
        #expect(try bench.state(.note(1)) == "failed")
        #expect(try bench.count("tidemark_base") == 0)
        try bench.page(room, since: 7, "notes", .note(1, seq: 9, born: 8, author: "ann", ["likes": 2]))
        #expect(try bench.state(.note(1)) == "synced")
    }

    @Test func `several transactions that are settled together are applied in their order`() throws {
        let bench = try Bench()
        try bench.join()
        try bench.write(1, .room(1), .note(1, ["text": "a", "likes": 1]))
        try bench.write(2, .set(.note(1), "text", "b"), .update(.note(1), [NamedPatch("likes", .increment(1))]))
        try bench.write(3, .set(.note(1), "text", "refused"))
        try bench.write(4, .update(.note(1), [NamedPatch("likes", .increment(1))]))
        try bench.apply(
            settled: .outcomes([(1, 1, nil), (2, 2, nil), (3, 3, .forbidden), (4, 4, nil)]), grants: [gained(at: 7)])
        let expected: Fields = ["text": "b", "likes": 3]
        #expect(try bench.fields(.note(1)) == expected.inRoom(1))
    }

    @Test func `a row that has arrived is never folded upon again`() throws {
        let bench = try Bench()
        try bench.join(room)
        try bench.write(1, .note(1, ["likes": 1]), .update(.note(1), [NamedPatch("likes", .increment(1))]), .note(2))
        try bench.page(room, "notes", .note(1, seq: 9, born: 8, author: "ann", ["likes": 2]), next: 8)
        try bench.apply(settled: .accepted(1, 1))
        #expect(try bench.fields(.note(1))?["likes"] == 2)
        #expect(try bench.row(.note(1))?.seq == 9)
    }

    @Test func `an update settled after its scope was granted anew is shown on the known record`() throws {
        let bench = try Bench()
        try bench.join(room)
        try bench.apply(.note(1, seq: 3, ["text": "a", "likes": 1]), .note(2, seq: 4))
        try bench.write(1, .set(.note(1), "text", "mine"))
        try bench.database.welcomed(.make(state: .ok, purged: [room], added: [gained(at: 12)]))
        try bench.apply(from: "c1", to: "c2", settled: .accepted(1, 1))
        let expected: Fields = ["text": "mine", "likes": 1]
        #expect(try bench.fields(.note(1)) == expected.inRoom(1))
        #expect(try bench.state(.note(1)) == "synced")
        #expect(try bench.row(.note(2)) == nil)
        try bench.page(room, since: 12, "notes", .note(1, seq: 10, born: 3, ["text": "mine", "likes": 9]))
        #expect(try bench.fields(.note(1))?["likes"] == 9)
    }

    @Test func `a delete that is settled without its tombstone stays a delete`() throws {
        let bench = try settledBench()
        try bench.write(2, .delete(.note(1)))
        try bench.apply(from: "c1", to: "c2", settled: .accepted(2, 2))
        #expect(try bench.row(.note(1)) == nil)
        #expect(bench.refusal(.note(1))?.code == .rejected(.gone))
        // Another user restored it: any number in the page replaces the delete.
        try bench.page(room, since: 7, "notes", .note(1, seq: 9, born: 8, ["text": "back"]))
        #expect(try bench.fields(.note(1))?["text"] == "back")
    }

    @Test func `losing the scope purges it`() throws {
        let bench = try settledBench()
        try bench.apply(from: "c1", to: "c2", grants: [.init(scope: room, since: 20, role: nil)])
        #expect(try bench.count("notes") == 0 && bench.count("rooms") == 0)
        let other = try settledBench()
        try other.database.welcomed(.make(state: .ok, purged: [room], added: [gained(at: 20)], settledThrough: 1))
        #expect(try other.count("notes") == 0 && other.count("rooms") == 0)
    }

    @Test func `no row stands in if no page is to come`() throws {
        let bench = try Bench()
        try bench.join(room)
        try bench.page(room, "rooms", .room(1, seq: 2))
        try bench.page(room, "notes")
        try bench.write(1, .note(1))
        try bench.write(2, .room(2), .note(2, in: 2))
        try bench.apply(settled: .outcomes([(1, 1, nil), (2, 2, nil)]))
        #expect(try bench.count("notes") == 0 && bench.count("rooms") == 1)
        #expect(try bench.count("tidemark_base") == 0)
    }
}
