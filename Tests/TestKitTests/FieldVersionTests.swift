import Foundation
import Testing
import Tidemark
import TidemarkTestKit

/// The room's notes in the app's next version.
private struct Memo: SyncModel, Equatable {
    static let collection = "notes"
    var id = UUID()
    var room: UUID
    var memo: String?
    var votes: Int?
}

/// The fields that the next version has removed.
private struct Entry: SyncModel, Equatable {
    static let collection = "entries"
    var id = UUID()
    var room: UUID
    var what: String?
}

/// A server with the next version of a schema, and apps of both.
@Suite(.timeLimit(.minutes(5))) struct FieldVersionTests {
    private static func schema(_ notes: String, _ more: String) throws -> Schema {
        let text = """
            {"tidemark": 1, "name": "desk", "collections": {
              "rooms": {"scope": "self", "members": "people", "fields": {
                "people": {"type": "set", "required": true, "merge": "elements"}, "title": "string"}},
              "notes": {"scope": "room", \(notes)}}
              \(more)}
            """
        return try Schema(json: Array(text.utf8))
    }

    private static let room =
        #""room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"}"#

    private static func older() throws -> Schema {
        try schema(
            #""fields": {\#(room), "text": "string", "likes": {"type": "integer", "merge": "counter"}}"#
                + #"}, "entries": {"scope": "room", "fields": {\#(room), "what": "string"}"#, "")
    }

    private static func newer() throws -> Schema {
        let fields = """
            "fields": {\(room), "memo": {"type": "string", "was": "text"},
              "votes": {"type": "integer", "merge": "counter", "was": ["likes", "stars"]}}
            """
        return try schema(fields, #", "removed": ["entries"]"#)
    }

    private struct Apps {
        let kit: TestKit
        let ann: TestClient
        let bob: TestClient
        let room: Room

        /// Ann has the newer app, bob the older one.
        init() async throws {
            kit = try TestKit(schema: try newer())
            ann = try await kit.client("ann")
            bob = try await kit.client("bob", schema: try older())
            room = Room(people: ["ann", "bob"])
            try await ann.store.repository(Room.self).create(room)
            try await kit.settle()
        }

        func expectNothingParked() async throws {
            for store in [ann.store, bob.store] { #expect(try await store.outbox.rejected().isEmpty) }
        }
    }

    @Test func `apps of both versions write and read one field under two names`() async throws {
        let apps = try await Apps()
        let (memos, notes) = (apps.ann.store.repository(Memo.self), apps.bob.store.repository(Note.self))
        let note = Note(room: apps.room.id, text: "by the old app", likes: 3)
        try await notes.create(note)
        let memo = Memo(room: apps.room.id, memo: "by the new app", votes: 1)
        try await memos.create(memo)
        try await apps.kit.settle()
        #expect(try await memos.read(note.id)?.memo == "by the old app")
        #expect(try await memos.read(note.id)?.votes == 3)
        #expect(try await notes.read(memo.id)?.text == "by the new app")
        apps.bob.goOffline()
        try await notes.update(memo.id) { $0.text = "changed by the old app" }
        try await notes.update(note.id) { $0.likes = 5 }
        try await memos.update(note.id) { $0.votes = 4 }
        try await apps.kit.settle()
        #expect(try await notes.read(memo.id)?.text == "changed by the old app")
        apps.bob.goOnline()
        try await apps.kit.settle()
        try await memos.update(note.id) { $0.memo = "changed by the new app" }
        try await apps.kit.settle()
        #expect(try await memos.read(memo.id)?.memo == "changed by the old app")
        #expect(try await notes.read(memo.id)?.text == "changed by the old app")
        #expect(
            try await memos.read(note.id)
                == Memo(id: note.id, room: apps.room.id, memo: "changed by the new app", votes: 6))
        #expect(try await notes.read(note.id)?.text == "changed by the new app")
        #expect(try await notes.read(note.id)?.likes == 6)
        try await apps.expectNothingParked()
    }

    @Test func `a transaction of an old app takes effect without removed fields`() async throws {
        let apps = try await Apps()
        let note = Note(room: apps.room.id, text: "moved")
        let entry = Entry(room: apps.room.id, what: "moved it")
        try await apps.bob.store.write { batch in
            batch.create(note)
            batch.create(entry)
        }
        try await apps.kit.settle()
        #expect(try await apps.ann.store.repository(Memo.self).read(note.id)?.memo == "moved")
        #expect(try await apps.bob.store.repository(Note.self).read(note.id)?.syncState == .synced)
        #expect(try await apps.bob.store.repository(Entry.self).read(entry.id) == nil)
        try await apps.expectNothingParked()
    }

    @Test func `a write of nothing but removed fields is refused alone and by name`() async throws {
        let apps = try await Apps()
        try await apps.bob.store.repository(Entry.self).create(Entry(room: apps.room.id, what: "lost"))
        try await apps.bob.store.repository(Note.self).create(Note(room: apps.room.id, text: "kept"))
        try await apps.kit.settle()
        let parked = try await apps.bob.store.outbox.rejected()
        #expect(parked.map(\.rejection.code) == [.unknownCollection])
        #expect(parked.first?.rejection.message == "entries: the schema has removed this collection")
        #expect(try await apps.ann.store.repository(Memo.self).readAll().map(\.memo) == ["kept"])
    }
}
