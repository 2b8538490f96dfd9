import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkEmbeddedStore

/// Deleted bodies are kept for judging a restore, are sent to no client, and are deleted with an erasure.
@Suite(.timeLimit(.minutes(5))) struct BuriedTests {
    private static let room = ScopeID(record: .numbered(1))
    private static let note = RecordKey(collection: "notes", id: .numbered(10))

    private func restore(_ data: FieldValue, room: Int64 = 1) -> Mutation {
        Mutation(
            key: Self.note,
            action: .undelete(["room": .string(LocalID.numbered(room).description), "data": data]))
    }

    private func buried(_ under: StoreUnderTest, _ key: RecordKey = note) async throws -> String? {
        var reads = ReadSet()
        reads.records = [key]
        return try await under.read(reads).records[key].map { String(decoding: $0.buried, as: UTF8.self) }
    }

    private func delete(_ under: StoreUnderTest) async throws -> Registry.Client {
        let registry = try Registry(under)
        let ann = try await registry.client(1, of: .ann)
        #expect(try await ann.push(1, .room(1, ["members": ["ann", "annabel"], "admins": ["ann"]])) == nil)
        #expect(try await ann.push(2, .note(10, in: 1, "annabel")) == nil)
        #expect(try await ann.push(3, Mutation(key: Self.note, action: .delete)) == nil)
        return ann
    }

    @Test(arguments: StoreKind.available)
    func `a tombstone keeps the deleted body for plans alone`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let ann = try await delete(under)
            let text = try #require(try await buried(under))
            #expect(text.hasPrefix(#"{"data":"annabel","room":"#))
            let window = try await under.store.window(scopes: [Self.room], after: 0, span: .max, in: under.workspace)
            #expect(window.records.contains { $0.key == Self.note && $0.isDeleted && $0.body.isEmpty })
            for batch in try await under.store.tail(after: 0, limit: 100, in: under.workspace).batches {
                for record in batch.batch?.records ?? [] where record.isDeleted { #expect(record.body.isEmpty) }
            }
            #expect(try await ann.push(4, restore("other")) == nil)
            #expect(try await buried(under) == "")
            #expect(try await ann.registry.fields("notes", 10)?["data"] == "other")
            let entries = try await under.store.history(
                of: Self.note, scope: Self.room, before: .max, limit: 9, in: under.workspace
            ).entries
            #expect(entries.map(\.value.old) == ["annabel"])
            // A new state over a tombstone without a body.
            try await under.commit { draft in draft.put(.numbered(11), in: Self.room, body: nil) }
            #expect(try await buried(under, RecordKey(collection: "message", id: .numbered(11))) == "")
        }
    }

    @Test(arguments: StoreKind.available)
    func `a record of an erased user, or of an erased scope, can be restored by no user`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            let ann = try await delete(under)
            let eraser = Eraser(
                store: under.store, erasing: under.store, blobs: nil,
                limits: Eraser.Limits(),
                surroundings: Eraser.Surroundings(
                    now: { 2_000 }, nonce: { UInt64.random(in: 1...(.max)) }, pause: { _ in }))
            let plan = Eraser.UserPlan(schema: try Registry.schema())
            _ = try await eraser.erase(UserID("annabel"), in: under.workspace, plan)
            #expect(try await buried(under) == "")
            #expect(try await ann.push(4, restore("annabel")) == nil, "open fields may be said anew")
            let room = RecordKey(collection: "rooms", id: .numbered(1))
            #expect(try await ann.push(5, Mutation(key: room, action: .delete)) == nil)
            #expect(try await buried(under, room) != "")
            _ = try await eraser.erase(Self.room, in: under.workspace, openers: ["rooms"])
            #expect(try await buried(under, room) == "")
            let back = Mutation(key: room, action: .undelete(["members": ["ann"]]))
            #expect(try await ann.push(6, back) == .notFound)
        }
    }

    @Test(arguments: StoreKind.available)
    func `deleted records of an erased user are kept nowhere, also if they do not name the user`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            let registry = try Registry(under)
            let ann = try await registry.client(1, of: .ann)
            #expect(
                try await ann.push(1, .room(1, ["members": ["ann", "annabel"], "admins": ["ann", "annabel"]])) == nil)
            let annabel = try await registry.client(2, of: UserID("annabel"))
            #expect(try await annabel.push(1, .note(10, in: 1, "secret")) == nil)
            #expect(try await annabel.push(2, Mutation(key: Self.note, action: .delete)) == nil)
            #expect(try await buried(under)?.contains("secret") == true)
            let eraser = Eraser(
                store: under.store, erasing: under.store, blobs: nil,
                limits: Eraser.Limits(),
                surroundings: Eraser.Surroundings(
                    now: { 2_000 }, nonce: { UInt64.random(in: 1...(.max)) }, pause: { _ in }))
            let plan = Eraser.UserPlan(schema: try Registry.schema())
            _ = try await eraser.erase(UserID("annabel"), in: under.workspace, plan)
            #expect(try await buried(under) == "")
        }
    }

    @Test(arguments: StoreKind.available)
    func `a user who may delete a record and not create one does not restore it`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let ann = try await delete(under)
            let annabel = try await ann.registry.client(2, of: UserID("annabel"))
            #expect(try await annabel.push(1, restore("annabel")) == .forbidden)
            #expect(try await ann.push(4, restore("annabel")) == nil)
        }
    }

    @Test func `a restore is judged the same after a restart`() async throws {
        let file = TemporaryFile()
        let first = try EmbeddedStore(path: file.path)
        let workspace = WorkspaceID("w")
        let ann = try await delete(StoreUnderTest(store: first, workspace: workspace))
        #expect(try await ann.push(4, Mutation(key: Self.note, action: .delete)) == .gone)
        try first.close()
        let second = try EmbeddedStore(path: file.path)
        let under = StoreUnderTest(store: second, workspace: workspace)
        let again = Registry.Client(registry: try Registry(under), row: ann.row)
        #expect(try await again.push(5, restore(.null)) == nil)
        #expect(try await again.registry.fields("notes", 10)?["data"] == nil)
        try second.close()
        try file.remove()
    }
}
