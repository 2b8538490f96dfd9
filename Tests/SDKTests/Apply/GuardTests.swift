import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// messages that arrive twice, late or out of order change nothing.
@Suite struct GuardTests {
    private let room = RecordKey.room(1).scope

    private func bench() throws -> Bench {
        let bench = try Bench()
        try bench.join(room)
        return bench
    }

    @Test func `a frame that does not continue the cursor is refused whole`() throws {
        let bench = try bench()
        try bench.apply(.note(1, seq: 5))
        let before = try bench.dump()
        for from in ["c0", "c9", ""] {
            let error = #expect(throws: StoreError.self) { try bench.apply(from: from, to: "c2", .note(2, seq: 6)) }
            #expect(error?.code == .cursorMismatch)
        }
        #expect(try bench.dump() == before)
        #expect(try bench.database.beginConnection().cursor == "c1")
    }

    @Test func `an older state never replaces a newer one`() throws {
        let bench = try bench()
        try bench.apply(.note(1, seq: 5, ["text": "new"]))
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 4, ["text": "old"]))
        try bench.page(room, "notes", .note(1, seq: 3, ["text": "older"]), next: 3)
        #expect(try bench.fields(.note(1))?["text"] == "new")
        try bench.apply(from: "c2", to: "c3", .note(1, seq: 4, deleted: true))
        #expect(try bench.row(.note(1))?.seq == 5)
    }

    @Test func `an older state never goes under a pending write`() throws {
        let bench = try bench()
        try bench.apply(.note(1, seq: 5, ["text": "new", "likes": 5]))
        try bench.write(1, .update(.note(1), [NamedPatch("likes", .increment(1))]))
        try bench.page(room, "notes", .note(1, seq: 4, ["text": "old", "likes": 1]), next: 4)
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 3, born: 3, deleted: true))
        let expected: Fields = ["text": "new", "likes": 6]
        #expect(try bench.fields(.note(1)) == expected.inRoom(1))
        try bench.apply(from: "c2", to: "c3", settled: .refused(1, 1, .forbidden))
        #expect(try bench.row(.note(1))?.seq == 5)
        #expect(try bench.fields(.note(1))?["likes"] == 5)
    }

    @Test func `a page before or after a delta ends in the same state`() throws {
        let page = PageAnswer(
            id: 1, scope: room, since: 1, collection: "notes",
            changes: [
                .note(3, seq: 7, ["text": "c"]), .note(2, seq: 4, ["text": "b"]), .note(1, seq: 3, ["text": "a"]),
            ], next: 3)
        let delta: [Change] = [
            .note(3, seq: 6, deleted: true), .note(2, seq: 8, born: 4, deleted: true),
            .note(1, seq: 5, born: 3, ["text": "A"]),
        ]
        let early = try bench()
        try early.database.apply(page)
        try early.database.apply(.make(from: "c0", to: "c1", delta), now: 0)
        let late = try bench()
        try late.database.apply(.make(from: "c0", to: "c1", delta), now: 0)
        try late.database.apply(page)
        try late.database.apply(page)
        #expect(try early.dump() == late.dump())
        #expect(try late.row(.note(2)) == nil)
        #expect(try late.fields(.note(1))?["text"] == "A")
    }

    @Test func `a stale page does not bring a deleted record back`() throws {
        let bench = try bench()
        try bench.apply(.note(1, seq: 5))
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 6, born: 5, deleted: true))
        #expect(try bench.count("tidemark_tombstone") == 1)
        try bench.page(room, "notes", .note(1, seq: 5), next: 5)
        #expect(try bench.row(.note(1)) == nil)
        try bench.page(room, "notes", next: nil)
        #expect(try bench.count("tidemark_tombstone") == 1)
        try bench.page(room, "rooms", .room(1, seq: 2))
        #expect(try bench.count("tidemark_tombstone") == 0)
        #expect(try !bench.page(room, "notes", .note(1, seq: 5)))
        #expect(try bench.row(.note(1)) == nil)
    }

    @Test func `a tombstone under a pending write guards once the write is settled`() throws {
        let bench = try bench()
        try bench.apply(.note(1, seq: 5))
        try bench.write(1, .set(.note(1), "text", "x"))
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 6, born: 5, deleted: true), settled: .refused(1, 1, .gone))
        try bench.page(room, "notes", .note(1, seq: 5))
        #expect(try bench.row(.note(1)) == nil)
    }

    @Test func `a restored record is visible again`() throws {
        let bench = try bench()
        try bench.apply(.note(1, seq: 5))
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 6, born: 5, deleted: true))
        try bench.apply(from: "c2", to: "c3", .note(1, seq: 7, born: 5, ["text": "back"]))
        #expect(try bench.fields(.note(1))?["text"] == "back")
        #expect(try bench.count("tidemark_tombstone") == 0)
    }

    @Test func `rows of scopes that are not held and of unknown collections are ignored`() throws {
        let bench = try bench()
        let boat = Change(
            key: RecordKey(collection: "boats", id: UniqueID(high: 1, low: 1)), scope: room, seq: 5, born: 5,
            isDeleted: false, author: Bench.user, created: 0, updated: 0, fields: Fields())
        try bench.apply(.note(1, in: 2, seq: 5), boat, .note(2, seq: 6))
        #expect(try bench.count("notes") == 1)
        #expect(try bench.row(.note(2)) != nil)
    }

    @Test func `a settlement of another database's transaction is a fork, and nothing is applied`() throws {
        let bench = try bench()
        try bench.write(1, .note(1))
        let before = try bench.dump()
        for settled in [Settled.accepted(1, 2), Settled(through: 2, outcomes: [])] {
            let error = #expect(throws: StoreError.self) { try bench.apply(.note(1, seq: 8), settled: settled) }
            #expect(error?.code == .clientForked)
        }
        #expect(try bench.dump() == before)
    }
}
