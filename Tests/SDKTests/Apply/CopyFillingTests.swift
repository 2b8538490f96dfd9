import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// a copy from before the deletions that the server remembers.
@Suite struct CopyFillingTests {
    private let bench: Bench
    private let scope = RecordKey.room(1).scope

    /// Makes a room that is filled, with two notes of numbers 5 and 6, which reconnects when the server is at 20.
    init() throws {
        bench = try Bench()
        try bench.join(scope)
        try bench.page(scope, "rooms")
        try bench.page(scope, "notes", .note(1, seq: 5, ["text": "one"]), .note(2, seq: 6, ["text": "two"]))
    }

    private var isFilling: Bool {
        get throws { try bench.database.writer.read { try ScopeTable(db: $0).isFilling(scope) } }
    }

    private func welcome(_ state: Welcome.CursorState = .behind) throws {
        try bench.database.welcomed(
            .make(state: state, cursor: "c20", kept: [HeldScope(scope: scope, since: 1)]))
    }

    private func next() throws -> CompareRequest? { try bench.database.nextComparison(isAsked: false, now: 5_000) }

    /// Answers all requests as a server with these notes.
    @discardableResult
    private func compare(_ notes: Change...) throws -> [SyncLogEvent] {
        var events: [SyncLogEvent] = []
        while let request = try next() {
            let here = request.collection == "notes" ? notes : []
            var digest = RecordDigest()
            var marks: [CompareAnswer.Mark] = []
            for note in here {
                let body = FieldValue.object(note.fields).json
                let term = RecordDigest.term(of: note.key, at: note.seq, body: Array(body.utf8))
                digest.insert(term)
                marks.append(.init(record: note.key.id, born: note.born, seq: note.seq, term: term))
            }
            try bench.database.apply(
                CompareAnswer(
                    id: 0, scope: scope, since: 1, collection: request.collection,
                    parts: [.init(low: request.from, at: 20, digest: digest)],
                    marks: request.lists ? marks.sorted { $0.born > $1.born } : nil), to: request
            ) { events.append($0) }
            let asked = try bench.toFetch.first?.ids ?? []
            let came = here.filter { asked.contains($0.key.id) }
            if let request = try bench.toFetch.first {
                try bench.database.apply(
                    PageAnswer(id: 1, scope: scope, since: 1, collection: "notes", changes: came, next: nil),
                    to: request)
            }
        }
        return events
    }

    @Test func `unchanged records are not fetched, and the copy continues from the head`() throws {
        try welcome()
        #expect(try bench.database.beginConnection().cursor == "c20")
        #expect(try isFilling && bench.database.beginConnection().isBehind)
        let events = try compare(.note(1, seq: 5, ["text": "one"]), .note(2, seq: 6, ["text": "two"]))
        #expect(try !isFilling && !bench.database.beginConnection().isBehind)
        #expect(try bench.fields(.note(1))?["text"] == .string("one"))
        #expect(events.contains { if case .compared = $0 { true } else { false } })
    }

    @Test func `records changed, deleted or created meanwhile are fetched, and no mistake is reported`() throws {
        try welcome()
        #expect(try bench.fields(.note(1))?["text"] == .string("one"), "it stays to be seen")
        let events = try compare(.note(1, seq: 12, born: 5, ["text": "eins"]), .note(3, seq: 14, ["text": "three"]))
        #expect(try bench.fields(.note(1))?["text"] == .string("eins"))
        #expect(try bench.fields(.note(2)) == nil)
        #expect(try bench.fields(.note(3))?["text"] == .string("three"))
        #expect(!events.contains { if case .diverged = $0 { true } else { false } })
        #expect(try bench.database.writer.read { try Meta.differences.integer($0) ?? 0 } == 0)
    }

    @Test func `earlier writes stay pending, over the server's present records`() throws {
        try bench.write(1, .set(.note(1), "done", .boolean(true)))
        try welcome()
        #expect(try bench.toFetch.first?.ids == [RecordKey.note(1).id])
        try bench.answer("notes", .note(1, seq: 12, born: 5, ["text": "eins"]))
        try compare(.note(1, seq: 12, born: 5, ["text": "eins"]), .note(2, seq: 6, ["text": "two"]))
        #expect(try bench.fields(.note(1))?["text"] == .string("eins"))
        #expect(try bench.fields(.note(1))?["done"] == .boolean(true))
        #expect(try bench.count("tidemark_outbox") == 1)
    }

    @Test func `a transaction settled meanwhile stays visible until its row arrives`() throws {
        try bench.write(1, .set(.note(1), "done", .boolean(true)))
        _ = try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        try welcome()
        try bench.apply(from: "c20", to: "c21", settled: .outcomes([(1, 1, nil)]))
        #expect(try bench.fields(.note(1))?["done"] == .boolean(true))
        let row = Change.note(1, seq: 12, born: 5, ["text": "eins", "done": true])
        try bench.answer("notes", row)
        try compare(row, .note(2, seq: 6, ["text": "two"]))
        #expect(try bench.fields(.note(1))?["done"] == .boolean(true))
        #expect(try bench.fields(.note(1))?["text"] == .string("eins"))
        #expect(try !isFilling)
    }

    @Test func `neither a kill between two answers nor a connection without news changes anything`() throws {
        try welcome()
        _ = try next()
        try welcome(.ok)
        #expect(try isFilling && bench.database.beginConnection().isBehind)
        try compare(.note(1, seq: 12, born: 5, ["text": "eins"]))
        #expect(try !isFilling)
        #expect(try bench.count("notes") == 1)
    }

    @Test func `collections that the server refuses to compare are filled by pages`() throws {
        try welcome()
        while let request = try next() {
            try bench.database.drop(request)
            #expect(try bench.database.nextPages(limit: 9).map(\.collection) == [request.collection])
            #expect(try bench.fields(.note(1))?["text"] == .string("one"))
            #expect(try next() == nil, "pages come first")
            try bench.database.apply(
                PageAnswer(
                    id: 1, scope: scope, since: 1, collection: request.collection,
                    changes: request.collection == "notes" ? [.note(1, seq: 5, ["text": "one"])] : [], next: nil))
        }
        #expect(try !isFilling && !bench.database.beginConnection().isBehind)
        #expect(try bench.count("notes") == 1)
        #expect(try bench.fields(.note(1))?["text"] == .string("one"))
    }

    @Test func `records below the floor of their collection are requested by id`() throws {
        try bench.database.change {
            try $0.execute(
                sql:
                    "UPDATE tidemark_scope_page SET is_complete = 0, remaining = 0, floor = 6 WHERE collection = 'notes'"
            )
        }
        try welcome()
        #expect(try bench.toFetch.first?.ids == [RecordKey.note(1).id])
        try bench.answer("notes", .note(1, seq: 9, born: 5, ["text": "eins"]))
        #expect(try isFilling)
        try compare(.note(2, seq: 6, ["text": "two"]))
        #expect(try !isFilling)
        #expect(try bench.fields(.note(1))?["text"] == .string("eins"))
        #expect(try bench.fields(.note(2))?["text"] == .string("two"))
    }

    @Test func `records that an eviction leaves below its floor meanwhile are requested by id`() throws {
        try bench.write(1, .set(.note(1), "done", .boolean(true)))
        var policy = CachePolicy()
        policy.maxRows = 1
        try bench.database.apply(
            .make(from: "c0", to: "c1", [.note(3, seq: 7, ["text": "three"])]), now: 1)
        try welcome()
        #expect(try bench.toFetch.first?.ids == [RecordKey.note(1).id], "for what waits on it")
        #expect(try bench.database.evict(policy, now: 9_000) == 1)
        #expect(try bench.toFetch.first?.ids == [RecordKey.note(1).id])
        #expect(try isFilling)
        try bench.answer("notes", .note(1, seq: 12, born: 5, ["text": "eins"]))
        try compare(.note(3, seq: 7, ["text": "three"]))
        #expect(try !isFilling)
        #expect(try bench.fields(.note(1))?["text"] == .string("eins"))
        #expect(try bench.fields(.note(3))?["text"] == .string("three"))
    }

    @Test func `a copy in which nothing can be compared is up to date at once`() throws {
        let empty = try Bench()
        try empty.join()
        try empty.database.welcomed(.make(state: .behind, cursor: "c20"))
        #expect(try !empty.database.isBehind && !empty.database.beginConnection().isBehind)
        #expect(try empty.database.nextComparison(isAsked: false, now: 5_000) == nil)
    }

    @Test func `a scope lost meanwhile ends its comparison, and the next comparison reports mistakes`()
        throws
    {
        try welcome()
        #expect(try bench.database.isBehind)
        try bench.database.apply(
            .make(from: "c20", to: "c21", [], grants: [.init(scope: scope, since: 21, role: nil)]), now: 1)
        #expect(try !bench.database.isBehind && next() == nil)
        _ = try bench.database.nextComparison(isAsked: true, now: 6_000)
        #expect(try bench.database.writer.read { try Meta.behind.integer($0) } == 0)
    }

    @Test func `a scope evicted while it waits to be compared ends the comparison`() throws {
        try welcome()
        try bench.database.change {
            try $0.execute(
                sql: "UPDATE tidemark_scope_page SET is_complete = 0, remaining = 0, floor = ?", arguments: [Int64.max])
        }
        #expect(try next() == nil)
        #expect(try !isFilling && !bench.database.isBehind)
    }
}
