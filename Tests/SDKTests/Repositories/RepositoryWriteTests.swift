import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct RepositoryWriteTests {
    private func store(_ note: Note) async throws -> SyncStore {
        let store = try SyncStore.test()
        try await store.repository(Note.self).create(note)
        return store
    }

    /// The patches that were queued last.
    private func patches(_ store: SyncStore) throws -> [[NamedPatch]] {
        let last = try #require(try store.database.nextPush(after: 1, maxTransactions: 99, maxBytes: 99_999).last)
        return try last.entry.content.get().mutations.map { mutation in
            if case .update(let patches) = mutation.action {
                patches.map { NamedPatch($0.field, $0.patch) }
            } else {
                []
            }
        }
    }

    @Test func `an update is the smallest patch that each rule has`() async throws {
        let note = Note(room: UUID(), text: "a", likes: 5, best: 1, tags: ["x", "y"], seen: ["ann"], done: true)
        let store = try await store(note)
        var changed = note
        changed.text = nil
        changed.likes = 7
        changed.best = 2
        changed.tags = ["y", "z"]
        changed.seen = ["ann", "bob"]
        try await store.repository(Note.self).update(changed, from: note)
        #expect(
            try patches(store) == [
                [
                    NamedPatch("likes", .increment(2)), NamedPatch("seen", .add(["bob"])),
                    NamedPatch("tags", .add(["z"])), NamedPatch("best", .max(2.0)), NamedPatch("text", .unset),
                ], [NamedPatch("tags", .remove(["x"]))],
            ])
        let stored = try #require(try await store.repository(Note.self).read(note.id))
        #expect(stored.tags == ["y", "z"])
        #expect(stored.likes == 7)
        #expect(stored.done == true)
    }

    @Test func `an update without a difference writes nothing`() async throws {
        let note = Note(room: UUID(), text: "a", tags: ["x", "y"])
        let store = try await store(note)
        let receipt = try await store.repository(Note.self).overwrite(note)
        #expect(try store.database.pendingCount() == 1)
        for try await step in receipt.steps { Issue.record("\(step) of a write that did not happen") }
        #expect(try await store.receipt(for: receipt.id) == nil)
    }

    @Test func `a model of fewer fields leaves the others unchanged`() async throws {
        let note = Note(room: UUID(), text: "a", done: true)
        let store = try await store(note)
        try await store.repository(Title.self).overwrite(Title(id: note.id, room: note.room, text: "b"))
        #expect(try patches(store) == [[NamedPatch("text", .set("b"))]])
        #expect(try await store.repository(Note.self).read(note.id)?.done == true)
    }

    @Test func `editing in place sees the latest state`() async throws {
        let note = Note(room: UUID(), likes: 1)
        let store = try await store(note)
        let notes = store.repository(Note.self)
        await withTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    await #expect(throws: Never.self) {
                        try await notes.update(note.id) { $0.likes = ($0.likes ?? 0) + 1 }
                    }
                }
            }
        }
        #expect(try await notes.read(note.id)?.likes == 21)
    }

    @Test func `a batch is one transaction over several collections`() async throws {
        let store = try SyncStore.test()
        let room = Room(people: ["ann"])
        let note = Note(room: room.id, text: "a")
        let receipt = try await store.write { t in
            t.create(room)
            t.create(note)
            t.update(note, \.text, "b")
            t.update(Note.self, note.id) { $0.done = true }
        }
        let stored = try #require(try await store.repository(Note.self).read(note.id))
        #expect(stored.text == "b")
        #expect(stored.done == true)
        let push = try store.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        #expect(push.count == 1)
        #expect(push.first?.entry.id == UniqueID(receipt.id))
        #expect(try push.first?.entry.content.get().mutations.count == 4)
    }

    @Test func `a mistake in one write undoes the whole batch`() async throws {
        let store = try SyncStore.test()
        let error = await #expect(throws: StoreError.self) {
            try await store.write { t in
                t.create(Room(people: ["ann"]))
                t.delete(Note.self, UUID())
            }
        }
        #expect(error?.code == .rejected(.notFound))
        #expect(try await store.repository(Room.self).readAll().isEmpty)
        #expect(try store.database.pendingCount() == 0)
    }

    @Test func `a record is deleted and restored`() async throws {
        let note = Note(room: UUID(), text: "a")
        let store = try await store(note)
        let notes = store.repository(Note.self)
        try await notes.delete(note.id)
        #expect(try await notes.read(note.id) == nil)
        try await store.write { $0.undelete(note) }
        #expect(try await notes.read(note.id)?.text == "a")
    }

    @Test func `each local write reaches the engine, and those that wait are one event`() async throws {
        let store = try SyncStore.test()
        let inbox = await store.idleInbox()
        try await store.repository(Room.self).create(Room(people: ["ann"]))
        try await store.repository(Room.self).create(Room(people: ["ann"]))
        #expect(await inbox.names() == ["wrote"])
        try await store.repository(Room.self).create(Room(people: ["ann"]))
        #expect(await inbox.names() == ["wrote"])
    }
}
