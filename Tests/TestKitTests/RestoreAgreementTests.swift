import Foundation
import Testing
import Tidemark
import TidemarkModel
import TidemarkTestKit

/// A device that knows the deleted record, the members and the contents of a scope refuses exactly what the server
/// would refuse.
@Suite(.timeLimit(.minutes(5))) struct RestoreAgreementTests {
    private static let schema = """
        {"tidemark": 1, "name": "test", "collections": {
          "rooms": {"scope": "self", "members": "people", "admins": "chiefs", "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"},
            "chiefs": {"type": "set", "merge": "elements", "change": ["admin"]},
            "title": {"type": "string", "change": ["owner"]}}},
          "notes": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
            "kind": {"type": "string", "merge": "immutable"}, "text": "string", "likes": {"type": "integer", "merge": "counter"},
            "price": {"type": "integer", "change": ["admin"], "default": 0},
            "stamp": {"type": "integer", "create": ["member"], "change": ["admin"]},
            "plan": {"type": "string", "merge": "manual"},
            "parent": {"type": "reference", "to": "notes", "within": "scope"}}},
          "letters": {"scope": "room", "delete": ["author"], "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"}, "text": "string"}}
        }}
        """

    struct Attempt: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let mutations: [Mutation]
        /// The outcome for a member, an admin and the owner.
        let expected: [RejectionCode?]
    }

    private static func key(_ collection: String, _ number: UInt64) -> RecordKey {
        RecordKey(collection: collection, id: UniqueID(high: 1, low: number))
    }

    private static func fields(_ room: UInt64 = 1, _ others: Fields = [:]) -> Fields {
        var fields = others
        fields["room"] = .string(key("rooms", room).id.description)
        return fields
    }

    private static let note = fields(1, ["kind": "a", "text": "t", "likes": 2, "price": 5, "stamp": 1, "plan": "p"])
    private static let people: Fields = ["people": ["ann", "bob", "cem"], "chiefs": ["bob"], "title": "r"]

    /// Deletes the record and restores it with other values.
    private static func replacing(_ key: RecordKey, _ fields: Fields, _ others: Fields) -> [Mutation] {
        var fields = fields
        for entry in others.entries { fields[entry.name] = entry.value }
        return [Mutation(key: key, action: .delete), Mutation(key: key, action: .undelete(fields))]
    }

    private static func creating(_ others: Fields, in room: UInt64 = 1) -> [Mutation] {
        [Mutation(key: key("notes", 99), action: .create(fields(room, others)))]
    }

    private static let attempts: [Attempt] = [
        Attempt(
            testDescription: "as it was", mutations: replacing(key("notes", 1), note, [:]), expected: [nil, nil, nil]),
        Attempt(
            testDescription: "what is kept", mutations: replacing(key("notes", 1), note, ["kind": "b", "likes": 99]),
            expected: [nil, nil, nil]),
        Attempt(
            testDescription: "an admin's field", mutations: replacing(key("notes", 1), note, ["price": 6]),
            expected: [.forbidden, nil, nil]),
        Attempt(
            testDescription: "an admin's field, removed", mutations: replacing(key("notes", 1), note, ["stamp": .null]),
            expected: [.forbidden, nil, nil]),
        Attempt(
            testDescription: "another's letter", mutations: replacing(key("letters", 2), fields(1, ["text": "l"]), [:]),
            expected: [.forbidden, .forbidden, nil]),
        Attempt(
            testDescription: "a scope as it was", mutations: replacing(key("rooms", 1), people, [:]),
            expected: [nil, nil, nil]),
        Attempt(
            testDescription: "the owner's field", mutations: replacing(key("rooms", 1), people, ["title": "mine"]),
            expected: [.forbidden, .forbidden, nil]),
        Attempt(
            testDescription: "a scope for others", mutations: replacing(key("rooms", 1), people, ["people": ["eve"]]),
            expected: [.invalid, .invalid, .invalid]),
        Attempt(testDescription: "priced", mutations: creating(["price": 1]), expected: [.forbidden, nil, nil]),
        Attempt(testDescription: "free", mutations: creating(["price": 0, "stamp": 1]), expected: [nil, nil, nil]),
        Attempt(
            testDescription: "nobody left",
            mutations: [
                Mutation(
                    key: key("rooms", 1), action: .update([NamedPatch("people", .remove(["ann", "bob", "cem"]))]))
            ], expected: [.invalid, .invalid, .invalid]),
        Attempt(
            testDescription: "a parent elsewhere",
            mutations: creating(["parent": .string(key("notes", 3).id.description)]),
            expected: [.notFound, .notFound, .notFound]),
        Attempt(
            testDescription: "a parent here", mutations: creating(["parent": .string(key("notes", 1).id.description)]),
            expected: [nil, nil, nil]),
    ]

    @Test(arguments: attempts)
    func `a device and the server agree`(_ attempt: Attempt) async throws {
        for (user, expected) in zip(["cem", "bob", "ann"], attempt.expected) {
            let kit = try TestKit(schema: try Schema(json: Array(Self.schema.utf8)))
            let ann = try await kit.client("ann")
            // The admins set a price at the creation.
            try await ann.store.write { batch in
                for number in [1, 2] as [UInt64] {
                    batch.apply(Mutation(key: Self.key("rooms", number), action: .create(Self.people)))
                }
            }
            try await kit.settle()
            try await ann.store.write { batch in
                batch.apply(Mutation(key: Self.key("notes", 1), action: .create(Self.note)))
                batch.apply(Mutation(key: Self.key("letters", 2), action: .create(Self.fields(1, ["text": "l"]))))
                batch.apply(Mutation(key: Self.key("notes", 3), action: .create(Self.fields(2))))
            }
            try await kit.settle()
            let device = user == "ann" ? ann : try await kit.client(user)
            try await kit.settle()
            #expect(try await here(attempt, device.store) == expected, "\(user)'s device")
            #expect(try await there(attempt, device, kit) == expected, "\(user) at the server")
        }
    }

    /// The device's judgement; nothing is written.
    private func here(_ attempt: Attempt, _ store: SyncStore) async throws -> RejectionCode? {
        let error = await #expect(throws: StoreError.self) {
            try await store.write { batch in
                for mutation in attempt.mutations { batch.apply(mutation) }
                batch.apply(Mutation(key: Self.key("ghosts", 1), action: .delete))
            }
        }
        guard case .rejected(let code)? = error?.code, code != .unknownCollection else { return nil }
        return code
    }

    private func there(_ attempt: Attempt, _ device: TestClient, _ kit: TestKit) async throws -> RejectionCode? {
        let id = UniqueID(high: 9, low: 9)
        try device.store.database.write(Transaction(id: id, mutations: attempt.mutations, clientTime: 1))
        // Notifies the engine of it.
        try await device.store.outbox.retryStalled()
        try await kit.settle()
        #expect(try device.store.database.pendingCount() == 0)
        return try await device.store.outbox.rejected().first?.rejection.code
    }
}
