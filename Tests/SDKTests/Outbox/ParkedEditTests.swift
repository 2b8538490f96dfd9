import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct ParkedEditTests {
    private let room = UUID(RecordKey.room(1).id)

    private func bench() throws -> (SyncStore, Bench) {
        let store = try SyncStore.test()
        let bench = Bench(database: store.database)
        try bench.join(RecordKey.room(1).scope)
        return (store, bench)
    }

    /// The server refuses the first write of this device.
    private func refuse(
        _ receipt: WriteReceipt, _ bench: Bench, from: String = "c0", to: String = "c1",
        _ changes: Change...
    ) throws {
        let outcome = TransactionOutcome(
            number: 1, transaction: UniqueID(receipt.id), seq: 50, time: 6, rejection: Rejection(.quota, "full"))
        try bench.database.apply(
            .make(from: from, to: to, changes, settled: Settled(through: 1, outcomes: [outcome])), now: 9_000)
    }

    private func patches(_ store: SyncStore) throws -> [Mutation] {
        try store.database.nextPush(after: 1, maxTransactions: 9, maxBytes: 99_999)
            .flatMap { try $0.entry.content.get().mutations }
            .map { mutation in
                guard case .update(let patches) = mutation.action else { return mutation }
                let plain = patches.map { NamedPatch($0.field, $0.patch) }
                return Mutation(key: mutation.key, action: .update(plain.sorted { $0.field < $1.field }))
            }
    }

    @Test func `a refused change shows the written values beside the server's`() async throws {
        let (store, bench) = try bench()
        let notes = store.repository(Note.self)
        try bench.apply(.note(1, seq: 5, ["text": "a", "likes": 3, "done": false]))
        let note = try #require(try await notes.readAll().first)
        let receipt = try await notes.update(note.id) { ($0.text, $0.likes) = ("mine", 4) }
        try refuse(
            receipt, bench, from: "c1", to: "c2", .note(1, seq: 6, born: 5, ["text": "b", "likes": 10, "done": true]))
        let edit = try #require(try await notes.rejected().first)
        #expect(edit.kind == .changed && edit.rejection == Rejection(.quota, "full"))
        #expect(edit.written?.text == "mine" && edit.written?.likes == 11 && edit.written?.done == true)
        #expect(edit.current?.text == "b" && edit.current?.likes == 10 && edit.current?.syncState == .synced)
        #expect(edit.written?.syncState == .failed)
        #expect(edit.differing == ["likes", "text"])
        #expect(edit.differs(\.text) && !edit.differs(\.done) && !edit.differs(\.silent))
        #expect(edit.id.record == note.id && edit.id.transaction == receipt.id)
        #expect(try await store.read { try $0.rejected(Note.self).count } == 1)
        #expect(try await store.repository(Room.self).rejected().isEmpty)
    }

    @Test func `a refused creation and deletion are reported as such`() async throws {
        let (store, bench) = try bench()
        try bench.apply(.note(1, seq: 5, ["text": "a"]))
        let made = Note(room: room, text: "new")
        let receipt = try await store.write { batch in
            batch.create(made)
            batch.update(Note.self, made.id) { $0.likes = 2 }
            batch.delete(Note.self, UUID(RecordKey.note(1).id))
        }
        try refuse(receipt, bench, from: "c1", to: "c2")
        let edits = try await store.repository(Note.self).rejected()
        #expect(edits.map(\.kind) == [.created, .deleted])
        #expect(edits.first?.written?.text == "new" && edits.first?.written?.likes == 2)
        #expect(edits.first?.current == nil && edits.first?.differing == ["likes", "room", "text"])
        #expect(edits.last?.written == nil && edits.last?.current?.text == "a" && edits.last?.differing == [])
        try await edits.first?.discard()
        #expect(try await store.repository(Note.self).rejected().isEmpty)
    }

    @Test func `a change of a deleted record has nothing to show`() async throws {
        let (store, bench) = try bench()
        let notes = store.repository(Note.self)
        try bench.apply(.note(1, seq: 5, ["text": "a"]))
        let receipt = try await notes.update(UUID(RecordKey.note(1).id)) { $0.text = "mine" }
        try refuse(receipt, bench, from: "c1", to: "c2", .note(1, seq: 6, born: 5, deleted: true))
        let edit = try #require(try await notes.rejected().first)
        #expect(edit.kind == .changed && edit.written == nil && edit.current == nil && edit.differing.isEmpty)
        let error = await #expect(throws: StoreError.self) { try await edit.edit { $0.text = "x" } }
        #expect(error?.code == .notFound)
        #expect(try await notes.rejected().count == 1)
    }

    @Test func `an edit replaces the values it changes, and leaves the rest as it was written`() async throws {
        let (store, bench) = try bench()
        try bench.apply(.note(1, seq: 5, ["text": "a", "likes": 3, "tags": ["x"]]))
        let key = RecordKey.note(1)
        let receipt = try await store.write { batch in
            batch.update(Note.self, UUID(key.id)) { note in
                (note.text, note.likes, note.tags, note.done) = ("far too long", 4, ["x", "y"], true)
            }
            batch.create(Room(id: UUID(RecordKey.room(7).id), people: ["ann"]))
        }
        try refuse(
            receipt, bench, from: "c1", to: "c2", .note(1, seq: 6, born: 5, ["text": "b", "likes": 10, "tags": ["z"]]))
        let edit = try #require(try await store.repository(Note.self).rejected().first)
        try await edit.edit { note in
            note.text = "short"
            note.tags = ["z", "w"]
        }
        #expect(
            try patches(store) == [
                .update(key, [NamedPatch("done", .set(true)), NamedPatch("likes", .increment(1))]),
                .update(key, [NamedPatch("tags", .add(["w"])), NamedPatch("text", .set("short"))]), .room(7),
            ])
        let note = try #require(try await store.repository(Note.self).read(UUID(key.id)))
        #expect(note.text == "short" && note.likes == 11 && note.tags == ["w", "z"] && note.done == true)
        #expect(try await store.outbox.rejected().isEmpty)
    }

    @Test func `an edited creation is one creation, with the fields that its model does not know`() async throws {
        let (store, bench) = try bench()
        let made = Note(room: room, text: "new", likes: 3)
        let receipt = try await store.write { batch in
            batch.create(made)
            batch.update(Note.self, made.id) { $0.done = true }
        }
        try refuse(receipt, bench)
        let edit = try #require(try await store.repository(Title.self).rejected().first)
        try await edit.edit { $0.text = "newer" }
        let key = RecordKey(collection: "notes", id: UniqueID(made.id))
        let fields: Fields = ["text": "newer", "likes": 3, "done": true]
        #expect(try patches(store) == [.create(key, fields.inRoom(1))])
    }

    @Test func `an edit that no longer applies stays parked`() async throws {
        let (store, bench) = try bench()
        let receipt = try await store.repository(Note.self).create(Note(room: room, text: "new"))
        try refuse(receipt, bench)
        let edit = try #require(try await store.repository(Note.self).rejected().first)
        await #expect(throws: StoreError.self) { try await edit.edit { $0.text = String(repeating: "x", count: 101) } }
        #expect(try await store.repository(Note.self).rejected().count == 1)
        try await edit.retry()
        #expect(try await store.repository(Note.self).rejected().isEmpty)
        #expect(try await store.repository(Note.self).read(edit.id.record)?.text == "new")
    }

    @Test func `an observer is notified of parked writes, and of the record under them`() async throws {
        let (store, bench) = try bench()
        let notes = store.repository(Note.self)
        try bench.apply(.note(1, seq: 5, ["text": "a"]))
        var edits = notes.observeRejected().makeAsyncIterator()
        #expect(try await edits.next()?.isEmpty == true)
        let receipt = try await notes.update(UUID(RecordKey.note(1).id)) { $0.text = "mine" }
        try refuse(receipt, bench, from: "c1", to: "c2")
        #expect(try await edits.next()?.map(\.current?.text) == ["a"])
        try bench.apply(from: "c2", to: "c3", .note(1, seq: 6, born: 5, ["text": "b"]))
        #expect(try await edits.next()?.map(\.current?.text) == ["b"])
        try await store.outbox.rejected().first?.discard()
        #expect(try await edits.next()?.isEmpty == true)
    }
}

extension Note {
    /// A computed property, which is not stored.
    fileprivate var silent: String? { nil }
}
