import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Maps whose keys merge separately, as an app uses them.
@Suite(.timeLimit(.minutes(5))) struct KeyedMapTests {
    private static func schema(_ rule: String = #", "merge": "keys""#) -> String {
        """
        {"tidemark": 1, "name": "test", "collections": {
          "rooms": {"scope": "self", "members": "people", "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"}}},
          "notes": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"}, "text": "string",
            "marks": {"type": "map"\(rule)}}}
        }}
        """
    }

    private struct Note: SyncModel, Equatable {
        static let collection = "notes"
        var id = UUID()
        var room: UUID
        var marks: [String: Int]
    }

    private let store: SyncStore
    private let id = UUID(RecordKey.note(1).id)
    private var bench: Bench { Bench(database: store.database) }
    private var notes: Repository<Note> { store.repository(Note.self) }

    init() throws {
        store = try .inMemory(
            account: Bench.user, schema: try TestSchema.schema(Self.schema()), models: [Note.self],
            environment: .counting())
        let bench = Bench(database: store.database)
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(.note(1, seq: 5, ["marks": .object(["a": 1, "b": 2])]), .note(2, seq: 6))
    }

    /// The patches that were queued last.
    private func patches() throws -> [NamedPatch] {
        let last = try #require(try store.database.nextPush(after: 0, maxTransactions: 99, maxBytes: 99_999).last)
        return try last.entry.content.get().mutations.flatMap(\.patches)
    }

    @Test func `an update writes the changed keys, with marks of their old values`() async throws {
        try await notes.update(id) { note in
            note.marks["b"] = nil
            note.marks["c"] = 3
        }
        let field = try #require(try store.database.table("notes").collection.field("marks"))
        let seen = ValueMark(.object(["b": 2]), of: field)
        #expect(try patches() == [NamedPatch("marks", .keys(["b": .null, "c": 3]), seen: seen)])
        #expect(try await notes.read(id)?.marks == ["a": 1, "c": 3])
        try await notes.update(id) { $0.marks["a"] = 1 }
        #expect(try bench.count("tidemark_outbox") == 1)
        #expect(try await notes.read(UUID(RecordKey.note(2).id))?.marks == [:])
    }

    @Test func `others' changes to other keys stay under a pending write and after it`() async throws {
        try bench.write(1, .update(.note(1), [NamedPatch("marks", .keys(["a": 10]))]))
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 7, born: 5, ["marks": .object(["a": 1, "b": 9, "d": 4])]))
        #expect(try await notes.read(id)?.marks == ["a": 10, "b": 9, "d": 4])
        try bench.apply(
            from: "c2", to: "c3", .note(1, seq: 105, born: 5, ["marks": .object(["a": 10, "b": 9, "d": 4])]),
            settled: .accepted(1, 1))
        #expect(try await notes.read(id)?.marks == ["a": 10, "b": 9, "d": 4])
        #expect(try await store.history(of: id, in: "notes").isEmpty)
    }

    @Test func `a key replaced before its write was settled is in the history, and is restored alone`() async throws {
        try bench.write(1, .update(.note(1), [NamedPatch("marks", .keys(["a": 10, "n": 7]))]))
        try bench.apply(
            from: "c1", to: "c2", .note(1, seq: 105, born: 5, ["marks": .object(["a": 11, "b": 5, "n": 7])]),
            settled: .accepted(1, 1))
        let entry = try #require(try await store.history(of: id, in: "notes").first)
        #expect(entry.old == .object(["a": 10, "n": 7]) && entry.new == .object(["a": 11, "n": 7]))
        #expect(entry.rule == .keys)
        try await store.restore(entry)
        #expect(try await notes.read(id)?.marks == ["a": 10, "b": 5, "n": 7])
    }

    @Test func `a refused write of a key is undone, and written again as models`() async throws {
        try bench.write(1, .update(.note(1), [NamedPatch("marks", .keys(["a": 10]))]))
        try bench.apply(from: "c1", to: "c2", settled: .outcomes([(1, 1, .invalid)]))
        #expect(try await notes.read(id)?.marks == ["a": 1, "b": 2])
        let edit = try #require(try await notes.rejected().first)
        #expect(edit.written?.marks == ["a": 10, "b": 2])
        try await edit.edit { $0.marks["c"] = 3 }
        #expect(try await notes.read(id)?.marks == ["a": 10, "b": 2, "c": 3])
    }
}
