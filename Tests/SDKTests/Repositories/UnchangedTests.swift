import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct UnchangedTests {
    private let room = UUID(RecordKey.room(1).id)

    private func note(in store: SyncStore) async throws -> Note {
        let note = Note(room: room, text: "a", likes: 1, tags: ["y", "x"], due: Date(timeIntervalSince1970: 1.5))
        try await store.repository(Note.self).create(note)
        return try #require(try await store.repository(Note.self).read(note.id))
    }

    private func refusal(_ store: SyncStore, _ body: @Sendable (inout WriteBatch) -> Void) async -> StoreError? {
        await #expect(throws: StoreError.self) { try await store.write { body(&$0) } }
    }

    @Test func `a record that is unchanged since it was read is written`() async throws {
        let store = try SyncStore.test()
        let note = try await note(in: store)
        try await store.write { batch in
            batch.requireUnchanged(note)
            batch.update(note, \.text, "b")
        }
        #expect(try await store.repository(Note.self).read(note.id)?.text == "b")
    }

    @Test func `a record that has changed refuses the whole write, and the error names it`() async throws {
        let store = try SyncStore.test()
        let note = try await note(in: store)
        try await store.repository(Note.self).update(note.id) { ($0.text, $0.done) = ("other", true) }
        let error = await refusal(store) { batch in
            batch.create(Note(room: note.room, text: "beside"))
            batch.requireUnchanged(note)
            batch.update(note, \.likes, 5)
        }
        #expect(error?.code == .rejected(.conflict))
        #expect(error?.message == "notes/\(UniqueID(note.id)): changed since it was read: done, text")
        #expect(try await store.repository(Note.self).readAll().map(\.likes) == [1])
        #expect(try store.database.pendingCount() == 2)
    }

    @Test func `changes from elsewhere are noticed as well`() async throws {
        let store = try SyncStore.test()
        let bench = Bench(database: store.database)
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(.note(1, seq: 5, ["text": "a"]))
        let note = try #require(try await store.repository(Note.self).readAll().first)
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 6, born: 5, ["text": "b"]))
        let error = await refusal(store) { batch in
            batch.requireUnchanged(note)
            batch.update(note, \.text, "c")
        }
        #expect(error?.message.hasSuffix("changed since it was read: text") == true, "\(error?.message ?? "")")
        #expect(try store.database.pendingCount() == 0)
        try bench.apply(from: "c2", to: "c3", .note(1, seq: 7, born: 5, deleted: true))
        let gone = await refusal(store) { $0.requireUnchanged(note) }
        #expect(gone?.code == .rejected(.conflict) && gone?.message.hasSuffix("is no longer on this device") == true)
    }

    @Test func `only changes of the named properties are noticed`() async throws {
        let store = try SyncStore.test()
        let note = try await note(in: store)
        try await store.repository(Note.self).update(note.id) { ($0.text, $0.tags) = ("other", ["x"]) }
        try await store.write { batch in
            batch.requireUnchanged(note, \.likes, \.due, \.done)
            batch.update(note, \.likes, 2)
        }
        let error = await refusal(store) { $0.requireUnchanged(note, \.due, \.tags) }
        #expect(error?.message.hasSuffix("read: tags") == true, "\(error?.message ?? "")")
        let wrong = await refusal(store) { $0.requireUnchanged(note, \.loud) }
        #expect(wrong?.code == .unknownName)
        #expect(try await store.repository(Note.self).read(note.id)?.likes == 2)
    }

    @Test func `a model of fewer fields checks its own, and the batch's own writes are noticed`() async throws {
        let store = try SyncStore.test()
        let note = try await note(in: store)
        let title = try #require(try await store.repository(Title.self).read(note.id))
        try await store.repository(Note.self).update(note.id) { $0.likes = 7 }
        try await store.write { $0.requireUnchanged(title) }
        let error = await refusal(store) { batch in
            batch.update(Title.self, title.id) { $0.text = "mine" }
            batch.requireUnchanged(title)
        }
        #expect(error?.code == .rejected(.conflict))
    }
}

extension Note {
    /// A computed property, which is not stored.
    fileprivate var loud: String? { text }
}
