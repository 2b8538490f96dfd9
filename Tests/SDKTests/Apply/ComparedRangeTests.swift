import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// R-70, R-71: one answer compared with one copy.
@Suite struct ComparedRangeTests {
    private let bench: Bench
    private let scope = RecordKey.room(1).scope
    private var record: RecordKey { .note(1) }

    /// Makes a room that is filled, with one note of number 5.
    init() throws {
        bench = try Bench()
        try bench.join(scope)
        try bench.page(scope, "rooms")
        try bench.page(scope, "notes", .note(1, seq: 5, ["text": "here"]))
    }

    private func request(lists: Bool) -> CompareRequest {
        CompareRequest(
            id: 1, scope: scope, since: 1, collection: "notes", from: 0,
            lists: lists)
    }

    /// The answer of a server that read at 20, and has the note with this text at this number.
    private func listed(_ text: String?, seq: SequenceNumber = 5, at: SequenceNumber = 20) throws -> CompareAnswer {
        let request = request(lists: true)
        var digest = RecordDigest()
        var marks: [CompareAnswer.Mark] = []
        if let text {
            let fields = Change.note(1, seq: seq, ["text": .string(text)]).fields
            let term = RecordDigest.term(of: record, at: seq, body: Array(FieldValue.object(fields).json.utf8))
            digest.insert(term)
            marks = [.init(record: record.id, born: 5, seq: seq, term: term)]
        }
        return CompareAnswer(
            id: 1, scope: scope, since: request.since, collection: "notes",
            parts: [.init(low: 0, at: at, digest: digest)], marks: marks)
    }

    private func differences(_ answer: CompareAnswer) throws -> [CopyDifference] {
        _ = try bench.database.nextComparison(isAsked: true, now: 0)
        try bench.database.change {
            try $0.execute(sql: "DELETE FROM tidemark_compare WHERE collection <> 'notes'")
        }
        var found: [CopyDifference] = []
        try bench.database.apply(answer, to: request(lists: true)) { event in
            if case .diverged(let difference) = event { found.append(difference) }
        }
        return found
    }

    @Test func `equal contents are no difference`() throws {
        #expect(try differences(try listed("here")).isEmpty)
        #expect(try bench.count("tidemark_refetch") == 0)
    }

    @Test func `other contents under the same number are requested by id, and stay visible`() throws {
        let found = try differences(try listed("there"))
        #expect(found.map(\.changed) == [1] && found.map(\.records) == [1])
        #expect(try bench.count("tidemark_refetch") == 1)
        #expect(try bench.fields(record)?["text"] == .string("here"))
        try bench.answer("notes", .note(1, seq: 5, ["text": "there"]))
        #expect(try bench.fields(record)?["text"] == .string("there"))
    }

    @Test func `renamed collections and fields are compared under the server's names`() throws {
        let renamed = TestSchema.text
            .replacing(#""notes": {"#, with: #""cards": {"was": "notes", "#)
            .replacing(#""text": {"type": "string", "max": 100}"#, with: #""words": {"type": "string", "was": "text"}"#)
        let bench = try Bench(renamed)
        try bench.join(scope)
        try bench.page(scope, "rooms")
        try bench.page(scope, "notes", .note(1, seq: 5, ["text": "here"]))
        let card = RecordKey(collection: "cards", id: record.id)
        #expect(try bench.fields(card)?["words"] == "here")
        let table = try #require(bench.database.tables["cards"])
        func digest() throws -> RecordDigest {
            try bench.database.writer.read { db in
                try ComparedRange(records: RecordTable(db, bench.database), table: table, scope: scope)
                    .digest(of: 0..<100, at: 20)
            }
        }
        let server = try #require(try listed("here").parts.first?.digest)
        #expect(try digest() == server)
        try bench.write(1, .set(card, "words", "mine"))
        #expect(try digest() == server, "the base under a pending write likewise")
    }

    @Test func `counts of a server whose sum overflows a number are accepted`() throws {
        _ = try bench.database.nextComparison(isAsked: true, now: 0)
        let digest = try #require(RecordDigest(count: 1 << 52, text: String(repeating: "0", count: 32)))
        let parts = (0..<3_000).reversed().map { CompareAnswer.Part(low: Int64($0), at: 20, digest: digest) }
        try bench.database.apply(
            CompareAnswer(id: 1, scope: scope, since: 1, collection: "notes", parts: parts), to: request(lists: false))
        #expect(try bench.database.writer.read { try Meta.comparedRecords.integer($0) } == 1 << 53)
    }

    @Test func `pending writes are neither compared nor lost`() throws {
        try bench.write(1, .set(record, "text", "mine"))
        #expect(try differences(try listed("here")).isEmpty, "the server does not know it yet")
        #expect(try differences(try listed("there")).map(\.changed) == [1])
        #expect(try bench.fields(record)?["text"] == .string("mine"))
        #expect(try bench.count("tidemark_outbox") == 1)
    }

    @Test func `a record with pending writes is compared once, as the server has it`() throws {
        let table = try #require(bench.database.tables["notes"])
        func digest() throws -> RecordDigest {
            try bench.database.writer.read { db in
                try ComparedRange(records: RecordTable(db, bench.database), table: table, scope: scope)
                    .digest(of: 0..<100, at: 20)
            }
        }
        let before = try digest()
        #expect(before.count == 1)
        try bench.write(1, .set(record, "text", "mine"))
        #expect(try digest() == before)
    }

    @Test func `a change or deletion since the server's read is no difference`() throws {
        try bench.apply(.note(1, seq: 30, born: 5, ["text": "newer"]))
        #expect(try differences(try listed("here")).isEmpty)
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 31, born: 5, deleted: true))
        #expect(try differences(try listed("here")).isEmpty)
        #expect(try bench.count("tidemark_refetch") == 0)
    }

    @Test func `an older state, a missing and an extra record are distinguished`() throws {
        #expect(try differences(try listed("later", seq: 9)).map(\.outdated) == [1])
        try bench.database.change { try $0.execute(sql: "DELETE FROM tidemark_refetch; DELETE FROM notes") }
        #expect(try differences(try listed("here")).map(\.missing) == [1])
        try bench.database.change { try $0.execute(sql: "DELETE FROM tidemark_refetch") }
        try bench.apply(.note(1, seq: 5, ["text": "here"]))
        #expect(try differences(try listed(nil)).map(\.extra) == [1])
    }

    @Test func `a record that was evicted meanwhile is not missing`() throws {
        _ = try bench.database.nextComparison(isAsked: true, now: 0)
        let answer = try listed("here")
        try bench.database.change {
            try $0.execute(
                sql: """
                    DELETE FROM notes;
                    UPDATE tidemark_scope_page SET is_complete = 0, remaining = 0, floor = 6 WHERE collection = 'notes';
                    """)
        }
        var found = 0
        try bench.database.apply(answer, to: request(lists: true)) { event in
            if case .diverged = event { found += 1 }
        }
        #expect(found == 0)
        #expect(try bench.count("tidemark_refetch") == 0)
    }
}
