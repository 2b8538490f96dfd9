import Foundation
import Tidemark
import TidemarkChat
import TidemarkNIOTransport

// Compiled, not run: it needs a server. A test runs the example app for chat.

func chat(as user: UserID, with friend: UserID, server: String, token: String, folder: URL) async throws {
    let chat = try await Chat.open(account: user, at: folder)  // works with no network
    try chat.store.connect(to: server, transport: NIOTransport()) { token }  // returns at once
    let conversation = try await chat.conversations.createDirect(with: friend)  // the same one for both
    try await chat.messages.send("Hello from \(user)", to: conversation.id)  // durable when this returns
    for try await page in chat.messages.observe(conversation.id, newest: 50) {
        for message in page { print(message.senderID, message.text, message.status) }
    }
}

struct Todo: SyncModel {
    static let collection = "tasks"
    var id = UUID()
    var listId: UUID
    var title: String
    var isDone = false
    var serverTime: Date?  // filled by the store, never written
    var syncState: RecordState?

    static let defaults: Fields = ["isDone": false]  // what is read where a record has no value
}

func nameUndecodable(store: SyncStore) async throws {
    for record in try await store.repository(Todo.self).undecodable() {
        print(record.collection, record.id, record.field ?? "", record.reason)
    }
}

func openStore(schemaFile: URL, folder: URL) async throws -> SyncStore {
    let schema = try Schema(json: Array(try Data(contentsOf: schemaFile)))
    return try await SyncStore.open(account: UserID("ann"), at: folder, schema: schema)
}

func twoDevices(
    _ schema: Schema, at server: String, in folder: URL, _ tokens: (ann: String, bob: String)
) async throws {
    let ann = try await SyncStore.open(account: UserID("ann"), at: folder, schema: schema)
    let bob = try await SyncStore.open(account: UserID("bob"), at: folder, schema: schema)
    try ann.connect(to: server, transport: NIOTransport()) { tokens.ann }
    try bob.connect(to: server, transport: NIOTransport()) { tokens.bob }
    let list = TaskList(members: ["ann", "bob"])
    try await ann.repository(TaskList.self).create(list)
    try await ann.repository(Todo.self).create(Todo(listId: list.id, title: "Buy milk"))
    for try await todos in bob.repository(Todo.self).observe(where: \.listId == list.id) where !todos.isEmpty {
        print("bob sees", todos.map(\.title))
        break
    }
    try await ann.close()
    try await bob.close()
}

struct TaskList: SyncModel {
    static let collection = "lists"
    var id = UUID()
    var members: Set<String>
}

struct Order: SyncModel {
    static let collection = "orders"
    var id = UUID()
    var listId: UUID
    var price: Int?
    var status: String?
    var terms: String?
    var copies = 0
}

enum GuideSchema {
    static func schema(titleType: String = "string") throws -> Schema {
        let text = """
            {"tidemark": 1, "name": "guide", "collections": {
              "lists": {"scope": "self", "members": "members", "fields": {
                "members": {"type": "set", "required": true, "merge": "elements"}}},
              "tasks": {"scope": "listId", "fields": {
                "listId": {"type": "reference", "required": true, "merge": "immutable", "to": "lists"},
                "title": "\(titleType)", "isDone": "boolean",
                "approved": {"type": "boolean", "change": ["server"]}}},
              "pictures": {"scope": "listId", "fields": {
                "listId": {"type": "reference", "required": true, "merge": "immutable", "to": "lists"},
                "file": {"type": "blob", "required": true}}},
              "orders": {"scope": "listId", "fields": {
                "listId": {"type": "reference", "required": true, "merge": "immutable", "to": "lists"},
                "price": "integer", "status": "string",
                "copies": {"type": "integer", "merge": "counter"}, "terms": {"type": "string", "merge": "manual"}}}
            }}
            """
        return try Schema(json: Array(text.utf8))
    }
}
