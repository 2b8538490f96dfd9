import Foundation
import Testing
import Tidemark
import TidemarkTestKit

// The models' types are those of the guide, and their values are written to a store.

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
    var scores: [String: Int]? = nil
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
              "products": {"scope": {"shared": "shop"}, "id": {"name": "product", "key": "sku"}, "fields": {
                "sku": {"type": "string", "required": true, "merge": "immutable"}, "name": "string"}},
              "cards": {"scope": "boardId", "fields": {
                "boardId": {"type": "reference", "required": true, "merge": "immutable", "to": "boards"},
                "title": {"type": "string", "search": true}, "phase": "string", "votes": "integer", "weight": "double",
                "isDone": "boolean", "due": "timestamp", "tags": {"type": "set", "merge": "elements"}, "size": "map",
                "steps": "json", "cover": "blob", "rank": {"type": "integer", "default": 3},
                "scores": {"type": "map", "merge": "keys"}}}
            }}
            """
        return try Schema(json: Array(text.utf8))
    }
}

@Suite struct AddingGuide {
    @Test func `every type of field has a Swift type whose values come back unchanged`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-guide-\(UUID())")
        // A temporary folder that remains does no harm.
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
        let milk = RankedCard(boardId: board.id, title: "Rice", rank: 5, scores: ["bob": 1, "eve": 2])
        try await ranked.create(milk)
        try await ranked.update(milk.id) { card in
            card.scores?["ann"] = 5
            card.scores?["bob"] = nil
        }
        #expect(try await ranked.read(milk.id)?.scores == ["ann": 5, "eve": 2])
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

struct SKU: SyncModelID, RawRepresentable { var rawValue: String }
struct Product: SyncModel {
    static let collection = "products"
    var id: SKU  // the field sku
    var name: String
}

@Suite(.timeLimit(.minutes(5))) struct KeysGuide {
    @Test func `a record is identified by its key`() async throws {
        let store = try SyncStore.inMemory(
            account: UserID("ann"), schema: try CardSchema.schema(), models: [Product.self])
        let products = store.repository(Product.self)
        try await products.create(Product(id: SKU(rawValue: "sku-1"), name: "Pin"))
        let pin = try await products.read(SKU(rawValue: "sku-1"))
        let some = try await products.readAll(where: .is(\.id, oneOf: [SKU(rawValue: "sku-1")]), order: [.by(\.name)])
        let reference = try products.recordID(SKU(rawValue: "sku-1"))
        #expect(pin?.name == "Pin" && some.map(\.name) == ["Pin"])
        #expect(reference == UUID(uuidString: "714c87da-e76b-8378-b0a2-8f00c0f627ba"))
    }

    @Test func `of two devices that create one key, the second is refused, and nothing is lost`() async throws {
        let kit = try TestKit(schema: try CardSchema.schema())
        let (ann, bob) = (try await kit.client("ann"), try await kit.client("bob"))
        try await kit.settle()
        try await bob.store.repository(Product.self).create(Product(id: SKU(rawValue: "sku-1"), name: "Nail"))
        try await kit.settle()
        ann.goOffline()
        let products = ann.store.repository(Product.self)
        try await products.create(Product(id: SKU(rawValue: "sku-2"), name: "Bolt"))
        bob.goOffline()
        let others = bob.store.repository(Product.self)
        try await others.create(Product(id: SKU(rawValue: "sku-2"), name: "Screw"))
        bob.goOnline()
        try await kit.settle()
        ann.goOnline()
        try await kit.settle()
        #expect(try await products.read(SKU(rawValue: "sku-2"))?.name == "Screw")
        let parked = try await products.rejected()
        #expect(parked.map(\.rejection.code) == [.idConflict] && parked.first?.written?.name == "Bolt")
        for edit in try await products.rejected() where edit.rejection.code == .idConflict {
            if let mine = edit.written { try await products.update(mine.id) { $0.name = mine.name } }
            try await edit.discard()
        }
        try await kit.settle()
        #expect(try kit.rows(of: Product.self).map(\.name) == ["Nail", "Bolt"])
        #expect(try await others.read(SKU(rawValue: "sku-2"))?.name == "Bolt")
        try kit.expectConverged()
    }
}
