import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// A form is read, others write, and the form is saved.
@Suite(.timeLimit(.minutes(5))) struct FormTests {
    private static let schema = """
        {"tidemark": 1, "name": "test", "collections": {
          "rooms": {"scope": "self", "members": "people", "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"}}},
          "notes": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
            "text": "string", "plan": {"type": "string", "merge": "manual"},
            "done": "boolean", "likes": {"type": "integer", "merge": "counter"}}}
        }}
        """

    private struct Note: SyncModel {
        static let collection = "notes"
        static let defaults: Fields = ["done": false]
        var id: UUID
        var room: UUID
        var text: String?
        var plan: String?
        var done: Bool
        var likes: Int
    }

    private let store: SyncStore
    private var bench: Bench { Bench(database: store.database) }
    private var notes: Repository<Note> { store.repository(Note.self) }
    private let id = UUID(RecordKey.note(1).id)

    init() throws {
        store = try .inMemory(
            account: Bench.user, schema: try TestSchema.schema(Self.schema), environment: .counting())
        let bench = Bench(database: store.database)
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(.note(1, seq: 5, ["text": "a", "plan": "p", "likes": 1]))
    }

    private func read() async throws -> Note { try #require(try await notes.read(id)) }

    /// Others write while the form is open.
    private func meanwhile(_ fields: Fields) throws {
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 6, born: 5, fields))
    }

    private func sent() throws -> [NamedPatch] {
        try store.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
            .flatMap { try $0.entry.content.get().mutations }.flatMap(\.patches)
    }

    private func mark(_ value: FieldValue?, of field: String) throws -> ValueMark {
        ValueMark(value, of: try #require(store.schema.collection("notes")?.field(field)))
    }

    @Test func `a saved form sends what was edited, and leaves what others changed meanwhile`() async throws {
        let shown = try await read()
        try meanwhile(["text": "theirs", "plan": "q", "done": true, "likes": 4])
        var edited = shown
        edited.likes += 1
        try await notes.update(edited, from: shown)
        #expect(try sent() == [NamedPatch("likes", .increment(1))])
        let now = try await read()
        #expect(now.text == "theirs" && now.plan == "q" && now.done && now.likes == 5)
    }

    @Test func `a saved form marks what it was read from, and not what arrived since`() async throws {
        let shown = try await read()
        try meanwhile(["text": "theirs", "plan": "p", "likes": 1])
        var edited = shown
        edited.text = "mine"
        try await notes.update(edited, from: shown)
        #expect(try sent() == [NamedPatch("text", .set("mine"), seen: try mark("a", of: "text"))])
    }

    @Test func `a form is refused if others changed its manual field meanwhile`() async throws {
        let shown = try await read()
        try meanwhile(["text": "a", "plan": "q", "likes": 1])
        var edited = shown
        (edited.plan, edited.text) = ("mine", "b")
        let error = await #expect(throws: StoreError.self) { try await notes.update(edited, from: shown) }
        #expect(error?.code == .rejected(.conflict))
        #expect(error?.message == "notes.plan: changed since the writer saw it")
        #expect(try sent().isEmpty)
        // If it is read again, it is written.
        let again = try await read()
        edited.plan = "mine"
        try await notes.update(edited, from: again)
        #expect(try sent().map(\.field) == ["plan", "text"])
    }

    @Test func `a value that the model supplies by default is treated as seen`() async throws {
        let shown = try await read()
        var edited = shown
        edited.done = true
        try await notes.update(edited, from: shown)
        #expect(try sent() == [NamedPatch("done", .set(true), seen: .absent)])
    }

    @Test func `a user's own steps from one reading do not contradict each other`() async throws {
        let shown = try await read()
        try await store.write { batch in
            batch.update(shown, \.plan, "first")
            batch.update(shown, \.plan, "second")
        }
        var edited = shown
        edited.plan = "third"
        try await notes.update(edited, from: shown)
        #expect(
            try sent() == [
                NamedPatch("plan", .set("first"), seen: try mark("p", of: "plan")),
                NamedPatch("plan", .set("second"), seen: try mark("first", of: "plan")),
                NamedPatch("plan", .set("third"), seen: try mark("second", of: "plan")),
            ])
    }

    @Test func `an overwriting write marks nothing as seen, so that the replaced value is in the history`()
        async throws
    {
        var model = try await read()
        try meanwhile(["text": "theirs", "plan": "p", "likes": 4])
        model.text = "mine"
        try await notes.overwrite(model)
        #expect(
            try sent().sorted { $0.field < $1.field } == [
                NamedPatch("likes", .increment(-3)),
                NamedPatch("text", .set("mine"), seen: try mark("mine", of: "text")),
            ])
    }

    @Test func `an overwriting write is refused for a manual field that differs`() async throws {
        var model = try await read()
        model.plan = "mine"
        let error = await #expect(throws: StoreError.self) { try await notes.overwrite(model) }
        #expect(error?.code == .rejected(.conflict))
    }
}
