import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Questions of an app to its own store when something seems wrong.
@Suite struct StoreReportTests {
    private let store: SyncStore
    private let room = RecordKey.room(1).scope
    private var bench: Bench { Bench(database: store.database) }

    init() throws {
        store = try .test()
        let bench = Bench(database: store.database)
        try bench.join(room)
        try bench.apply(.note(1, seq: 5, ["text": "from the server"]))
    }

    @Test func `a store's report is its diagnostics as JSON, and includes a record's story`() async throws {
        try bench.write(1, .set(.note(1), "text", "mine"))
        let diagnostics = try await store.diagnostics()
        #expect(diagnostics.outbox.map(\.actions) == [["update \(RecordKey.note(1))"]])
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let report = try decoder.decode(Diagnostics.self, from: try await store.exportReport())
        #expect(report.scopes == diagnostics.scopes && report.collections == diagnostics.collections)
        #expect(diagnostics.copy == nil && report.copy?.cursor == "c1")
        #expect(report.copy?.scopes == [], "what is being filled is not told of")
        let story = try await store.story(of: UUID(RecordKey.note(1).id), in: "notes")
        #expect(story.differing == ["text"])
        await #expect(throws: StoreError.self) { try await store.story(of: UUID(), in: "ghosts") }
    }

    @Test func `a report has digests of the server's records, without pending writes`() async throws {
        let note = Change.note(1, seq: 5, ["text": "from the server"])
        try bench.page(room, "rooms", .room(1, seq: 1))
        try bench.page(room, "notes", note)
        try bench.write(1, .set(.note(1), "text", "mine"))
        try bench.write(2, .note(2, ["text": "not sent"]))
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let report = try decoder.decode(Diagnostics.self, from: try await store.exportReport())
        let scope = try #require(report.copy?.scopes.first)
        #expect(report.copy?.scopes.count == 1 && scope.scope == room.text && scope.since == 1)
        var digest = RecordDigest()
        digest.insert(note.key, at: 5, body: note.fields.canonicalBytes)
        let notes = try #require(scope.collections.first { $0.collection == "notes" })
        #expect(notes.records == 1 && notes.digest == digest.text && notes.from == 0)
    }

    @Test func `an unanswered write is listed with its effect and its time`() async throws {
        try bench.write(2_000, .note(2, ["text": "unheard"]))
        _ = try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        try bench.database.withhold(1, reason: "no answer")
        let failed = try #require(try await store.outbox.stalled().first)
        #expect(failed.id == UUID(UniqueID.transaction(2_000)) && failed.reason == "no answer")
        #expect(failed.mutations.map(\.key) == [.note(2)])
        #expect(failed.writtenAt == Date(timeIntervalSince1970: 2))
    }

    @Test func `an overwritten value is listed with its record, and the time of its loss`() async throws {
        try bench.write(1, .set(.note(1), "text", "mine"))
        try store.database.apply(
            .make(from: "c1", to: "c2", [.note(1, seq: 105, born: 5, ["text": "theirs"])], settled: .accepted(1, 1)),
            now: 9_000)
        let entries = try await store.history(of: UUID(RecordKey.note(1).id), in: "notes")
        let entry = try #require(entries.first)
        #expect(entry.collection == "notes" && entry.record == UUID(RecordKey.note(1).id))
        #expect(entry.time.timeIntervalSince1970 > 0 && entry.id == entries.first?.id)
        #expect(Set(entries.map(\.id)).count == entries.count)
    }
}
