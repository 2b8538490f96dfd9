import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct RuleCheckTests {
    private static let schema = """
        {"tidemark": 1, "name": "test", "collections": {
          "rooms": {"scope": "self", "members": "people", "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"}, "title": "string"},
            "rules": [{"name": "owner", "on": ["create"], "if": "role == 'owner'"}]},
          "notes": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
            "text": "string", "price": {"type": "integer", "default": 0}, "paid": {"type": "integer", "default": 0}},
            "rules": [
              {"name": "paid", "if": "after.paid <= after.price", "message": "Nobody pays more than the price."},
              {"name": "sold", "on": ["change", "delete"], "if": "before.price == 0 || role != 'member'"},
              {"name": "late", "if": "now < 10"}]}
        }}
        """

    private let scope = RecordKey.room(1).scope

    private func bench(as role: Role? = .member, price: FieldValue = 0) throws -> (SyncStore, Bench) {
        let store = try SyncStore.inMemory(
            account: Bench.user, schema: try TestSchema.schema(Self.schema), environment: .counting())
        let bench = Bench(database: store.database)
        _ = try store.database.beginConnection()
        let grants = role.map { [Changes.GrantChange(scope: scope, since: 1, role: $0)] } ?? []
        try store.database.welcomed(.make(added: grants))
        let note = Change(
            key: .note(1), scope: scope, seq: 5, born: 5, isDeleted: false, author: UserID("bob"), created: 1,
            updated: 2, fields: Fields(dictionaryLiteral: ("text", "a"), ("price", price)).inRoom(1))
        if role != nil { try bench.apply(note) }
        return (store, bench)
    }

    private func refusal(_ store: SyncStore, _ mutations: Mutation...) async -> StoreError? {
        do {
            try await store.write { batch in for mutation in mutations { batch.apply(mutation) } }
            return nil
        } catch { return error as? StoreError }
    }

    @Test func `a write that breaks a rule is an error with its name and message, and nothing is shown`() async throws {
        let (store, bench) = try bench()
        let error = await refusal(store, .note(2), .set(.note(2), "paid", 5))
        #expect(error?.code == .rejected(.rule))
        #expect(error?.brokenRule?.name == "paid" && error?.brokenRule?.collection == "notes")
        #expect(error?.brokenRule?.message == "Nobody pays more than the price.")
        #expect(try bench.fields(.note(2)) == nil && store.database.pendingCount() == 0)
    }

    @Test func `a transaction is judged by what it leaves, in either order`() async throws {
        let (store, _) = try bench()
        #expect(await refusal(store, .note(2), .set(.note(2), "paid", 5), .set(.note(2), "price", 5)) == nil)
    }

    @Test func `a rule judges the state that the device shows, with the role that it knows`() async throws {
        let (asMember, _) = try bench(price: 7)
        #expect(await refusal(asMember, .set(.note(1), "text", "b"))?.brokenRule?.name == "sold")
        #expect(await refusal(asMember, .delete(.note(1)))?.brokenRule?.name == "sold")
        let (asAdmin, _) = try bench(as: .admin, price: 7)
        #expect(await refusal(asAdmin, .set(.note(1), "text", "b"), .delete(.note(1))) == nil)
        let (unknown, _) = try bench(as: nil)
        #expect(await refusal(unknown, .note(2, ["price": 1]), .set(.note(2), "text", "b")) == nil)
    }

    @Test func `the creator of a scope is its owner`() async throws {
        let (store, _) = try bench(as: nil)
        #expect(await refusal(store, .create(.room(2), ["people": ["ann"]])) == nil)
    }
}
