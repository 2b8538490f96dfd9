import Foundation
import Testing
import Tidemark
import TidemarkTestKit

/// The room's notes in the app's next version, which names them differently.
private struct Memo: SyncModel, Equatable {
    static let collection = "memos"
    var id = UUID()
    var room: UUID
    var text: String?
    var likes: Int?
}

/// Devices with different versions of an app, side by side.
@Suite(.timeLimit(.minutes(5))) struct VersionTests {
    private static func renamed() throws -> Schema {
        let text = """
            {"tidemark": 1, "name": "desk", "version": 2, "collections": {
              "rooms": {"scope": "self", "members": "people", "fields": {
                "people": {"type": "set", "required": true, "merge": "elements"}, "title": "string"}},
              "memos": {"was": "notes", "scope": "room", "fields": {
                "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
                "text": "string", "likes": {"type": "integer", "merge": "counter"}}}
            }}
            """
        return try Schema(json: Array(text.utf8))
    }

    @Test func `a renamed collection is the same collection, on every device and at the server`()
        async throws
    {
        let desk = try await Desk()
        try await desk.write("from the old version", by: desk.ann)
        try await desk.kit.settle()
        try await desk.ann.kill()
        desk.ann.goOffline()
        try await desk.ann.relaunch(with: try Self.renamed())
        let memos = desk.ann.store.repository(Memo.self)
        let first = try #require(try await memos.readAll().first)
        #expect(first.text == "from the old version")
        try await memos.update(first.id) { $0.likes = 1 }
        try await memos.create(Memo(room: desk.room.id, text: "from the new version"))
        try await desk.write("from bob", by: desk.bob)
        desk.ann.goOnline()
        let late = try await desk.kit.client("ann", schema: try Self.renamed())
        try await desk.kit.settle()
        let texts = ["from bob", "from the new version", "from the old version"]
        #expect(try desk.texts().compactMap { $0 }.sorted() == texts)
        for store in [desk.ann.store, late.store] {
            #expect(try await store.repository(Memo.self).readAll().compactMap(\.text).sorted() == texts)
        }
        let notes = try await desk.bob.store.repository(Note.self).readAll()
        #expect(notes.compactMap(\.text).sorted() == texts)
        #expect(notes.first { $0.id == first.id }?.likes == 1)
    }

    @Test func `a server with the new names serves both versions`() async throws {
        let kit = try TestKit(schema: try Self.renamed())
        let ann = try await kit.client("ann")
        let bob = try await kit.client("bob", schema: try Desk.schema())
        let room = Room(people: ["ann", "bob"])
        try await ann.store.repository(Room.self).create(room)
        try await ann.store.repository(Memo.self).create(Memo(room: room.id, text: "new"))
        try await kit.settle()
        try await bob.store.repository(Note.self).create(Note(room: room.id, text: "old"))
        try await kit.settle()
        #expect(try await ann.store.repository(Memo.self).readAll().compactMap(\.text).sorted() == ["new", "old"])
        #expect(try await bob.store.repository(Note.self).readAll().compactMap(\.text).sorted() == ["new", "old"])
    }
}
