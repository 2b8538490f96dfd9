import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct AccessCheckTests {
    private static let schema = """
        {"tidemark": 1, "name": "test", "collections": {
          "rooms": {"scope": "self", "members": "people", "admins": "chiefs", "delete": ["owner"], "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"},
            "chiefs": {"type": "set", "merge": "elements"}, "title": {"type": "string", "change": ["admin"]}}},
          "notes": {"scope": "room", "delete": ["author"], "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
            "text": "string", "price": {"type": "integer", "change": ["admin"]},
            "seal": {"type": "string", "change": ["server"]}}},
          "people": {"scope": {"shared": "directory"}, "create": ["server"], "change": ["author"],
            "fields": {"name": "string"}}
        }}
        """

    private let scope = RecordKey.room(1).scope

    private func bench(as role: Role? = .member) throws -> (SyncStore, Bench) {
        let store = try SyncStore.inMemory(
            account: Bench.user, schema: try TestSchema.schema(Self.schema), environment: .counting())
        let bench = Bench(database: store.database)
        _ = try store.database.beginConnection()
        let grants = role.map { [Changes.GrantChange(scope: scope, since: 1, role: $0)] } ?? []
        try store.database.welcomed(.make(added: grants))
        let note = Change(
            key: .note(1), scope: scope, seq: 5, born: 5, isDeleted: false, author: UserID("bob"), created: 1,
            updated: 2, fields: Fields(dictionaryLiteral: ("text", "a")).inRoom(1))
        if role != nil { try bench.apply(note) }
        return (store, bench)
    }

    private func refusal(_ store: SyncStore, _ mutations: Mutation...) async -> StoreError? {
        do {
            try await store.write { batch in for mutation in mutations { batch.apply(mutation) } }
            return nil
        } catch { return error as? StoreError }
    }

    @Test func `a forbidden write of a member is an error at once, and names who may`() async throws {
        let (store, bench) = try bench()
        var error = await refusal(store, .set(.note(1), "price", 5))
        #expect(error?.code == .rejected(.forbidden))
        #expect(error?.message == "notes.price: may be changed by admin, and ann is member")
        error = await refusal(store, .delete(.note(1)))
        #expect(error?.message == "notes: may be deleted by author, and ann is member")
        error = await refusal(store, .set(.note(1), "text", "b"), .set(.note(1), "seal", "x"))
        #expect(error?.message == "notes.seal: may be changed by server, and ann is member")
        let person = RecordKey(collection: "people", id: UniqueID(high: 1, low: 2))
        error = await refusal(store, .create(person, ["name": "x"]))
        #expect(error?.message == "people: may be created by server, and ann is member")
        let inside = await #expect(throws: StoreError.self) {
            try await store.readAndWrite { _, batch in batch.apply(.set(.note(1), "price", 5)) }
        }
        #expect(inside?.code == .rejected(.forbidden))
        #expect(try bench.fields(.note(1))?["text"] == "a" && store.database.pendingCount() == 0)
    }

    @Test func `an allowed write of a role is written`() async throws {
        let (asAdmin, _) = try bench(as: .admin)
        #expect(await refusal(asAdmin, .set(.note(1), "price", 5)) == nil)
        let (asMember, _) = try bench()
        #expect(await refusal(asMember, .note(2), .set(.note(2), "text", "b"), .delete(.note(2))) == nil)
        #expect(await refusal(asMember, .set(.note(1), "text", "b")) == nil)
    }

    @Test func `if the role is unknown the server judges alone, except for writes of services`() async throws {
        let (store, _) = try bench(as: nil)
        #expect(await refusal(store, .note(2, ["price": 1]), .set(.note(2), "price", 5)) == nil)
        let error = await refusal(store, .set(.note(2), "seal", "x"))
        #expect(error?.message == "notes.seal: may be changed by server")
    }

    @Test func `a write that may make the user an admin is waited for`() async throws {
        let (store, bench) = try bench()
        try bench.apply(from: "c1", to: "c2", .room(1, seq: 6, ["people": ["ann", "bob"]]))
        let promotion = Mutation.update(.room(1), [NamedPatch("chiefs", .add(["ann"]))])
        #expect(await refusal(store, promotion, .set(.note(1), "price", 5)) == nil)
        #expect(await refusal(store, .set(.note(1), "price", 6)) == nil)
        #expect(await refusal(store, .set(.note(1), "seal", "x")) != nil)
    }

    @Test func `a user who leaves a scope writes nothing in it afterwards`() async throws {
        let (store, bench) = try bench()
        try bench.apply(from: "c1", to: "c2", .room(1, seq: 6, ["people": ["ann", "bob"]]))
        let leaving = Mutation.update(.room(1), [NamedPatch("people", .remove(["ann"]))])
        let back = Mutation.update(.room(1), [NamedPatch("people", .add(["ann"]))])
        for after in [back, .set(.note(1), "text", "b"), .note(2), .delete(.room(1))] {
            let error = await refusal(store, leaving, after)
            #expect(error?.code == .rejected(.forbidden))
            #expect(error?.message.contains("ann leaves the scope") == true, "\(error?.message ?? "")")
        }
        #expect(await refusal(store, .set(.note(1), "text", "b"), leaving) == nil)
    }

    @Test func `a scope of one's own is made by its owner, who is among its members`() async throws {
        let (store, _) = try bench(as: nil)
        let error = await refusal(store, .create(.room(2), ["people": ["bob"]]))
        #expect(error?.message == "rooms.people: must list ann, who creates it, among the members")
        #expect(error?.code == .rejected(.invalid))
        #expect(
            await refusal(
                store, .create(.room(2), ["people": ["ann"]]), .set(.room(2), "title", "x"), .delete(.room(2))) == nil)
    }

    @Test func `a parked write may be retried whatever the device knows`() async throws {
        let (store, bench) = try bench(as: .admin)
        let receipt = try await store.write { $0.apply(.set(.note(1), "price", 5)) }
        let outcome = TransactionOutcome(
            number: 1, transaction: UniqueID(receipt.id), seq: 5, time: 6, rejection: Rejection(.forbidden, "no"))
        let demoted = Changes.GrantChange(scope: scope, since: 1, role: .member)
        try bench.apply(
            from: "c1", to: "c2", settled: Settled(through: 1, outcomes: [outcome]), grants: [demoted])
        #expect(await refusal(store, .set(.note(1), "price", 5)) != nil)
        try await store.outbox.rejected().first?.retry()
        #expect(try store.database.pendingCount() == 1)
    }
}
