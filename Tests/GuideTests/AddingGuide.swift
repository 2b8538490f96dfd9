import Foundation
import Testing
import Tidemark

// The models' types are those that the guide names, and they go through a store.

struct Card: SyncModel {
    static let collection = "cards"
    var id = UUID()  // made here, the same on every device and at the server
    var boardId: UUID
    var title: String
    var phase: Phase
    var votes: Int?  // optional: a field without a value
    var weight: Double?
    var isDone: Bool?
    var due: Date?
    var tags: Set<String>?
    var size: Size?
    var steps: [Step]?
    var cover: BlobDigest?

    enum Phase: String, Codable, Sendable { case open, closed }
    struct Size: Codable, Sendable { var width: Int; var height: Int }
    struct Step: Codable, Sendable { var text: String; var isDone: Bool }

    var serverID: Int64?  // these are filled by the store and never written
    var serverTime: Date?
    var createdTime: Date?
    var author: String?
    var syncState: RecordState?  // synced, pending, failed or conflict
}

struct RankedCard: SyncModel {
    static let collection = "cards"
    var id = UUID()
    var boardId: UUID
    var title: String
    var rank = 3  // what a new card begins with; that a card without one is read as 3 is the schema's word
}

struct Board: SyncModel {
    static let collection = "boards"
    var id = UUID()
    var members: Set<String>
}

enum CardSchema {
    static func schema() throws -> Schema {
        let text = """
            {"tidemark": 1, "name": "cards", "collections": {
              "boards": {"scope": "self", "members": "members", "fields": {
                "members": {"type": "set", "required": true, "merge": "elements"}}},
              "cards": {"scope": "boardId", "fields": {
                "boardId": {"type": "reference", "required": true, "merge": "immutable", "to": "boards"},
                "title": {"type": "string", "search": true}, "phase": "string", "votes": "integer", "weight": "double",
                "isDone": "boolean", "due": "timestamp", "tags": {"type": "set", "merge": "elements"}, "size": "map",
                "steps": "json", "cover": "blob", "rank": {"type": "integer", "default": 3}}}
            }}
            """
        return try Schema(json: Array(text.utf8))
    }
}

@Suite struct AddingGuide {
    @Test func `every type of field has a Swift type that comes back as it was`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-guide-\(UUID())")
        // Nothing is lost when a temporary folder stays behind.
        defer { try? FileManager.default.removeItem(at: folder) }
        let (account, schema) = (UserID("ann"), try CardSchema.schema())
        var store: SyncStore? = try await SyncStore.open(account: account, at: folder, schema: schema)
        let board = Board(members: ["ann"])
        let card = Card(
            boardId: board.id, title: "Milk", phase: .open, votes: 3, weight: 0.5, isDone: false,
            due: Date(timeIntervalSince1970: 1_760_000_000.125), tags: ["red"], size: .init(width: 2, height: 3),
            steps: [.init(text: "buy", isDone: true)],
            cover: BlobDigest(checking: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
        try await store?.write { batch in
            batch.create(board)
            batch.create(card)
        }
        let read = try #require(try await store?.repository(Card.self).read(card.id))
        #expect(read.phase == .open && read.votes == 3 && read.weight == 0.5 && read.isDone == false)
        #expect(read.due == card.due && read.tags == ["red"] && read.size?.height == 3 && read.cover == card.cover)
        #expect(read.steps?.first?.text == "buy" && read.syncState == .pending && read.author == "ann")
        let ranked = try #require(store).repository(RankedCard.self)
        try await ranked.create(RankedCard(boardId: board.id, title: "Bread", rank: 4))
        let unranked = try await ranked.readAll(where: \.rank == 3, order: [.by(\.title)])
        #expect(unranked.map(\.title) == ["Milk"] && unranked.first?.rank == 3)
        let first = store

        do {
            store = try await SyncStore.open(account: account, at: folder, schema: schema)
        } catch let error as StoreError where error.code == .inUse {
            print("try again later: \(error)")
        }
        #expect(store === first)
        if case .recovered(let recovery)? = store?.notice { print("\(recovery)") }
        try await store?.close()
    }
}
