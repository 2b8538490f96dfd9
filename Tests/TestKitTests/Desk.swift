import Foundation
import Tidemark
import TidemarkTestKit

struct Room: SyncModel, Equatable {
    static let collection = "rooms"
    var id = UUID()
    var people: Set<String>
    var title: String?
}

struct Note: SyncModel, Equatable {
    static let collection = "notes"
    var id = UUID()
    var room: UUID
    var text: String?
    var likes: Int?
    var serverID: Int64?
    var syncState: RecordState?
}

/// A kit with a room whose members are ann and bob.
struct Desk {
    let kit: TestKit
    let ann: TestClient
    let bob: TestClient
    let room: Room

    init(seed: UInt64 = 1) async throws {
        kit = try TestKit(schema: try Self.schema(), seed: seed)
        ann = try await kit.client("ann")
        bob = try await kit.client("bob")
        room = Room(people: ["ann", "bob"])
        try await ann.store.repository(Room.self).create(room)
        try await kit.settle()
    }

    static func schema() throws -> Schema {
        let text = """
            {"tidemark": 1, "name": "desk", "collections": {
              "rooms": {"scope": "self", "members": "people", "fields": {
                "people": {"type": "set", "required": true, "merge": "elements"}, "title": "string"}},
              "notes": {"scope": "room", "fields": {
                "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
                "text": "string", "likes": {"type": "integer", "merge": "counter"}}}
            }}
            """
        return try Schema(json: Array(text.utf8))
    }

    @discardableResult
    func write(_ text: String, by client: TestClient) async throws -> WriteReceipt {
        try await client.store.repository(Note.self).create(Note(room: room.id, text: text))
    }

    /// The texts of all notes at the server, in its order.
    func texts() throws -> [String?] { try kit.rows(of: Note.self).map(\.text) }
}
