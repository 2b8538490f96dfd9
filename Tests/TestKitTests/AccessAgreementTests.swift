import Foundation
import Testing
import Tidemark
import TidemarkModel
import TidemarkTestKit

/// A device refuses by the access rules exactly what the server would refuse.
@Suite(.timeLimit(.minutes(5))) struct AccessAgreementTests {
    private static let schema = """
        {"tidemark": 1, "name": "test", "collections": {
          "rooms": {"scope": "self", "members": "people", "admins": "chiefs", "delete": ["owner"], "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"},
            "chiefs": {"type": "set", "merge": "elements"}, "title": {"type": "string", "change": ["admin"]},
            "sign": {"type": "string", "change": ["author"]}}},
          "notes": {"scope": "room", "create": ["anyone"], "delete": ["author", "owner"], "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
            "text": "string", "price": {"type": "integer", "change": ["admin"]},
            "seal": {"type": "string", "change": ["server"]}, "mark": {"type": "string", "change": ["owner"]}}},
          "rules": {"scope": "room", "create": ["admin"], "change": ["author"], "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"}, "text": "string"}},
          "people": {"scope": {"shared": "directory"}, "create": ["server"], "fields": {"name": "string"}},
          "posts": {"scope": {"shared": "directory"}, "change": ["author"], "delete": ["admin"],
            "fields": {"name": "string"}}
        }}
        """

    private let room = RecordKey(collection: "rooms", id: UniqueID(high: 1, low: 1))

    private func key(_ collection: String, _ number: UInt64) -> RecordKey {
        RecordKey(collection: collection, id: UniqueID(high: 2, low: number))
    }

    private func set(_ key: RecordKey, _ field: String, _ value: FieldValue) -> Mutation {
        Mutation(key: key, action: .update([NamedPatch(field, .set(value))]))
    }

    /// One attempt of each kind, on records of ann's and on one of the user's own.
    private func attempts(_ own: UInt64) -> [(name: String, mutation: Mutation)] {
        let home: Fields = ["room": .string(room.id.description)]
        let note = key("notes", 1)
        return [
            ("room title", set(room, "title", "t")), ("room sign", set(room, "sign", "s")),
            ("text", set(note, "text", "b")), ("price", set(note, "price", 1)), ("seal", set(note, "seal", "x")),
            ("mark", set(note, "mark", "x")), ("own seal", set(key("notes", own), "seal", "x")),
            ("own mark", set(key("notes", own), "mark", "x")),
            ("create note", Mutation(key: key("notes", 1_000 + own), action: .create(home))),
            ("create rule", Mutation(key: key("rules", 1_000 + own), action: .create(home))),
            ("change rule", set(key("rules", 1), "text", "r")),
            ("create person", Mutation(key: key("people", 1_000 + own), action: .create(["name": "x"]))),
            ("create post", Mutation(key: key("posts", 1_000 + own), action: .create(["name": "x"]))),
            ("change post", set(key("posts", 1), "name", "y")),
            ("delete post", Mutation(key: key("posts", own), action: .delete)),
            ("delete own note", Mutation(key: key("notes", own), action: .delete)),
            ("delete note", Mutation(key: note, action: .delete)),
            ("delete room", Mutation(key: room, action: .delete)),
        ]
    }

    @Test func `the only member of a scope ends and restores it, on the device and at the server`() async throws {
        let kit = try TestKit(schema: try Schema(json: Array(Self.schema.utf8)))
        let (ann, cem) = (try await kit.client("ann"), try await kit.client("cem"))
        let people: Fields = ["people": ["ann", "cem"], "chiefs": ["ann"]]
        let deletion = Mutation(key: room, action: .delete)
        let restore = Mutation(key: room, action: .undelete(["people": ["cem"]]))
        func write(_ mutations: Mutation...) async throws {
            try await cem.store.write { batch in for mutation in mutations { batch.apply(mutation) } }
            try await kit.settle()
        }
        try await ann.store.write { [room] in $0.apply(Mutation(key: room, action: .create(people))) }
        try await kit.settle()
        await #expect(throws: StoreError.self) { try await write(deletion) }
        let leaving = Mutation(key: room, action: .update([NamedPatch("people", .remove(["ann"]))]))
        try await ann.store.write { $0.apply(leaving) }
        try await kit.settle()
        // Leaving is still refused. In one write, in two, and with the server's answer between them the scope ends and
        // returns.
        await #expect(throws: StoreError.self) {
            try await write(Mutation(key: room, action: .update([NamedPatch("people", .remove(["cem"]))])))
        }
        try await write(deletion, restore)
        #expect(try await isThere(cem))
        try await write(deletion)
        #expect(try await !isThere(cem))
        try await write(restore)
        #expect(try await isThere(cem))
        try await write(deletion)
        #expect(try await !isThere(cem))
        #expect(try await cem.store.outbox.rejected().isEmpty)
    }

    private func isThere(_ client: TestClient) async throws -> Bool {
        try await client.store.read { try $0.rows("SELECT 1 FROM rooms").count } == 1
    }

    @Test(arguments: [("cem", 3), ("bob", 2), ("ann", 5)] as [(String, UInt64)])
    func `a device and the server agree on what a role forbids`(_ user: String, _ own: UInt64) async throws {
        let kit = try TestKit(schema: try Schema(json: Array(Self.schema.utf8)))
        let home: Fields = ["room": .string(room.id.description)]
        let people: Fields = ["people": ["ann", "bob", "cem"], "chiefs": ["bob"]]
        let ann = try await kit.client("ann")
        try await ann.store.write { [room] batch in
            batch.apply(Mutation(key: room, action: .create(people)))
            batch.apply(Mutation(key: key("notes", 1), action: .create(home)))
            batch.apply(Mutation(key: key("rules", 1), action: .create(home)))
            batch.apply(Mutation(key: key("posts", 1), action: .create(["name": "x"])))
        }
        try await kit.settle()
        let device = try await kit.client(user)
        try await kit.settle()
        try await device.store.write { batch in
            batch.apply(Mutation(key: key("notes", own), action: .create(home)))
            batch.apply(Mutation(key: key("posts", own), action: .create(["name": "x"])))
        }
        try await kit.settle()
        var (here, there) = ([String](), [String]())
        for (number, attempt) in attempts(own).enumerated() {
            do {
                // Judged, and then not written: the server must see it on the same state.
                try await device.store.write { batch in
                    batch.apply(attempt.mutation)
                    batch.apply(Mutation(key: key("ghosts", 1), action: .delete))
                }
            } catch let error as StoreError {
                if error.code == .rejected(.forbidden) { here.append(attempt.name) }
            }
            let id = UniqueID(high: 9, low: UInt64(number))
            try device.store.database.write(
                Transaction(id: id, mutations: [attempt.mutation], clientTime: 1))
            // Notifies the engine of it.
            try await device.store.outbox.retryStalled()
            try await kit.settle()
            for parked in try await device.store.outbox.rejected() {
                #expect(parked.rejection.code == .forbidden, "\(attempt.name): \(parked.rejection.message)")
                there.append(attempt.name)
                try await parked.discard()
            }
        }
        #expect(here == there)
        let byMembers = ["text", "create note", "create post", "delete own note"]
        let allowed = attempts(own).map(\.name).filter { !here.contains($0) }
        switch user {
        case "cem": #expect(allowed == byMembers)
        case "bob":
            #expect(
                allowed == [
                    "room title", "text", "price", "create note", "create rule", "create post", "delete own note",
                ])
        default:
            #expect(here == ["seal", "own seal", "create person", "delete post"])
        }
    }
}
