import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// the server's database has lost everything after a number, and the copy goes back to it.
@Suite struct TailReplacementTests {
    private let room = RecordKey.room(1).scope
    private var held: HeldScope { HeldScope(scope: room, since: 1) }

    /// A filled copy with notes 1 to 4, which ends at number 5 under `c1`.
    private func filled() throws -> Bench {
        let bench = try Bench()
        try bench.join(room)
        try bench.apply(
            .note(1, seq: 2, ["text": "a"]), .note(2, seq: 3, ["text": "b"]), .note(3, seq: 4), .note(4, seq: 5))
        try bench.page(room, "rooms")
        try bench.page(room, "notes")
        return bench
    }

    @Test func `later births are deleted, later changes and deletions are fetched, and nothing else is`() throws {
        let bench = try filled()
        try bench.apply(
            from: "c1", to: "c2", .note(2, seq: 6, born: 3, ["text": "edited"]), .note(5, seq: 7),
            .note(3, seq: 8, born: 4, deleted: true))
        try bench.goBack(to: 5, end: "c1", kept: [held])
        #expect(try bench.row(.note(5)) == nil)
        #expect(try bench.row(.note(1))?.seq == 2 && bench.row(.note(4))?.seq == 5)
        #expect(try bench.fields(.note(2))?["text"] == "edited", "it is shown until it is replaced")
        #expect(try bench.database.nextPages(limit: 9).map(\.ids) == [[RecordKey.note(2).id, RecordKey.note(3).id]])
        #expect(try bench.database.beginConnection().cursor == "c1")
        try bench.answer("notes", .note(2, seq: 3, ["text": "b"]), .note(3, seq: 4))
        #expect(try bench.fields(.note(2))?["text"] == "b")
        #expect(try (1...4).map { try bench.row(.note($0))?.seq } == [2, 3, 4, 5])
        #expect(try bench.database.nextPages(limit: 9).isEmpty && bench.count("tidemark_refetch") == 0)
        #expect(try bench.count("tidemark_deletion") == 0)
        // The order continues under the lost numbers.
        try bench.apply(from: "c1", to: "d2", .note(2, seq: 6, born: 3, ["text": "other"]), .note(6, seq: 7))
        #expect(try bench.fields(.note(2))?["text"] == "other" && bench.row(.note(6)) != nil)
    }

    @Test func `a record that does not arrive is deleted, and changes from the stream meanwhile are kept`() throws {
        let bench = try filled()
        try bench.apply(
            from: "c1", to: "c2", .note(1, seq: 6, born: 2), .note(2, seq: 7, born: 3), .note(3, seq: 8, born: 4),
            .note(4, seq: 9, born: 5))
        try bench.goBack(to: 5, end: "c1", kept: [held])
        let request = try #require(try bench.toFetch.first)
        try bench.apply(
            from: "c1", to: "d2", .note(2, seq: 7, born: 3, ["text": "new"]), .note(3, seq: 8, born: 4, deleted: true))
        // The answer was read before that: the deletion is not undone.
        try bench.database.apply(
            PageAnswer(
                id: 1, scope: room, since: 1, collection: "notes",
                changes: [.note(2, seq: 3), .note(3, seq: 4), .note(4, seq: 5)], next: nil), to: request)
        #expect(try (1...4).map { try bench.row(.note($0))?.seq } == [nil, 7, nil, 5])
        #expect(try bench.count("tidemark_tombstone") == 0)
    }

    @Test func `a pending write on a record that does not arrive has no base`() throws {
        let bench = try filled()
        try bench.apply(from: "c1", to: "c2", .note(2, seq: 6, born: 3, ["text": "edited"]))
        try bench.write(1, .set(.note(2), "text", "mine"))
        try bench.goBack(to: 5, end: "c1", kept: [held])
        #expect(try bench.fields(.note(2))?["text"] == "mine")
        try bench.answer("notes")
        #expect(try bench.fields(.note(2)) == nil)
        #expect(try bench.database.pendingCount() == 1, "what becomes of the write is the server's word")
    }

    @Test func `an answer to some of the ids leaves the others requested`() throws {
        let bench = try filled()
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 6, born: 2), .note(2, seq: 7, born: 3))
        try bench.goBack(to: 5, end: "c1", kept: [held])
        try bench.answer("notes", .note(1, seq: 2), next: 1)
        #expect(try bench.toFetch.map(\.ids) == [[RecordKey.note(2).id]])
        #expect(try bench.row(.note(2)) != nil)
        try bench.answer("notes")
        #expect(try bench.row(.note(2)) == nil && bench.row(.note(1)) != nil)
    }

    @Test func `an answer of another grant is dropped`() throws {
        let bench = try filled()
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 6, born: 2))
        try bench.goBack(to: 5, end: "c1", kept: [held])
        let request = try #require(try bench.toFetch.first)
        try bench.apply(
            from: "c1", to: "d2",
            grants: [.init(scope: room, since: 6, role: nil), .init(scope: room, since: 7, role: .member)])
        let late = PageAnswer(
            id: 1, scope: room, since: 1, collection: "notes", changes: [.note(1, seq: 2)], next: nil)
        #expect(try !bench.database.apply(late, to: request))
        #expect(try bench.row(.note(1)) == nil && bench.toFetch.isEmpty)
    }

    @Test func `pending writes stay, over the server's present records`() throws {
        let bench = try filled()
        try bench.write(1, .set(.note(2), "text", "mine"))
        try bench.write(2, .note(9))
        try bench.write(3, .update(.note(4), [NamedPatch("likes", .increment(1))]))
        try bench.apply(
            from: "c1", to: "c2", .note(2, seq: 6, born: 3, ["text": "lost", "likes": 4]), .note(5, seq: 7),
            .note(4, seq: 8, born: 5, deleted: true))
        try bench.write(4, .set(.note(5), "text", "on what is lost"))
        try bench.goBack(to: 5, end: "c1", kept: [held])
        #expect(try bench.database.pendingCount() == 4)
        #expect(try bench.fields(.note(2))?["text"] == "mine" && bench.row(.note(9)) != nil)
        #expect(try bench.row(.note(5)) == nil, "its creation is lost")
        try bench.answer("notes", .note(2, seq: 3, ["text": "b", "likes": 2]), .note(4, seq: 5))
        #expect(try bench.fields(.note(2))?["text"] == "mine" && bench.fields(.note(2))?["likes"] == 2)
        #expect(try bench.fields(.note(4))?["likes"] == 1)
        // Another user restores it: the pending write applies to it.
        try bench.apply(from: "c1", to: "d2", .note(5, seq: 6, ["text": "again"]))
        #expect(try bench.fields(.note(5))?["text"] == "on what is lost")
    }

    @Test func `a later grant is another one whatever its number, and lost ones are deleted with their records`() throws
    {
        let bench = try filled()
        let other = RecordKey.room(2).scope
        try bench.apply(
            from: "c1", to: "c2", .note(7, in: 2, seq: 6), grants: [.init(scope: other, since: 6, role: .member)])
        try bench.page(other, since: 6, "rooms")
        try bench.page(other, since: 6, "notes", .note(8, in: 2, seq: 3))
        try bench.goBack(
            to: 5, end: "c1", kept: [held], purged: [other], added: [.init(scope: other, since: 6, role: .member)])
        #expect(try bench.row(.note(7)) == nil && bench.row(.note(8)) == nil)
        #expect(try bench.database.nextPages(limit: 9).map { "\($0.scope) \($0.collection)" } == ["\(other) rooms"])
        #expect(try bench.row(.note(1)) != nil)
    }

    @Test func `a scope whose filling began after the common state is filled again, and visible meanwhile`() throws {
        let bench = try Bench()
        try bench.join(room)
        let other = RecordKey.room(2).scope
        try bench.apply(.note(1, seq: 2))
        try bench.page(room, "rooms")
        try bench.page(room, "notes")
        // Granted long ago, and new to this connection: deletions between c1 and c2 were not sent.
        try bench.database.welcomed(
            .make(state: .ok, cursor: "c1", kept: [held], added: [.init(scope: other, since: 1, role: .member)]))
        try bench.apply(from: "c1", to: "c2", .note(2, seq: 9))
        for collection in ["rooms", "notes"] { try bench.page(other, collection, .note(7, in: 2, seq: 1)) }
        try bench.goBack(to: 2, end: "c1", kept: [held, HeldScope(scope: other, since: 1)])
        #expect(try bench.database.nextPages(limit: 9).map { "\($0.scope) \($0.collection)" } == ["\(other) rooms"])
        #expect(try bench.row(.note(7)) != nil)
        for collection in ["rooms", "notes"] { try bench.page(other, collection) }
        #expect(try bench.row(.note(7)) == nil && bench.row(.note(1)) != nil)
    }

    @Test func `a later deletion does not keep the record away while its scope is being filled`() throws {
        let bench = try Bench()
        try bench.join(room)
        try bench.apply(.note(1, seq: 2))
        try bench.apply(from: "c1", to: "c2", .note(3, seq: 9, born: 2, deleted: true))
        #expect(try bench.count("tidemark_tombstone") == 1)
        try bench.goBack(to: 2, end: "c1", kept: [held])
        try bench.page(room, "notes", .note(3, seq: 2), .note(1, seq: 2))
        #expect(try bench.row(.note(3)) != nil)
    }

    @Test func `an unknown end, or unknown deletions, make the whole copy fill again`() throws {
        for end in ["c1", "nobody's"] {
            var limits = LocalLimits()
            limits.deletionsKept = end == "c1" ? 2 : 100
            let bench = Bench(
                database: try LocalDatabase.inMemory(
                    account: Bench.user, schema: try TestSchema.schema(), newClient: Bench.client, limits: limits))
            try bench.join(room)
            try bench.apply(.note(1, seq: 2), .note(2, seq: 3))
            try bench.page(room, "rooms")
            try bench.page(room, "notes")
            try bench.apply(
                from: "c1", to: "c2", .note(11, seq: 6, born: 1, deleted: true),
                .note(12, seq: 7, born: 1, deleted: true), .note(13, seq: 8, born: 1, deleted: true))
            try bench.goBack(to: 5, end: end, kept: [held])
            #expect(try bench.database.nextPages(limit: 9).map(\.collection) == ["rooms"])
            #expect(try bench.row(.note(1))?.seq == 0)
            #expect(try bench.database.beginConnection().ends.isEmpty)
        }
    }

    @Test func `it can go back further before all is fetched`() throws {
        let bench = try filled()
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 6, born: 2, ["text": "2"]))
        try bench.apply(from: "c2", to: "c3", .note(2, seq: 7, born: 3, ["text": "3"]), .note(5, seq: 8))
        try bench.goBack(to: 6, end: "c2", kept: [held])
        #expect(try bench.toFetch.map(\.ids) == [[RecordKey.note(2).id]])
        try bench.goBack(to: 5, end: "c1", kept: [held])
        #expect(try bench.toFetch.map(\.ids) == [[RecordKey.note(1).id, RecordKey.note(2).id]])
        #expect(try bench.database.beginConnection().ends == ["c1"])
    }
}
