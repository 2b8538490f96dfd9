import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Constraints on the device: a write that breaks one fails before it is shown (R-156).
@Suite(.timeLimit(.minutes(5))) struct ConstraintCheckTests {
    private static let schema = """
        {"tidemark": 1, "name": "test", "collections": {
          "rooms": {"scope": "self", "members": "people", "admins": "chiefs", "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"},
            "chiefs": {"type": "set", "merge": "elements"}}},
          "notes": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
            "text": {"type": "string", "maxLength": 5}, "price": {"type": "integer", "minimum": 0},
            "stock": {"type": "integer", "merge": "counter", "minimum": 0},
            "phase": {"type": "string", "initial": ["open"], "enum": ["open", "done", "paid"],
              "transitions": {"open": ["done"], "done": ["open", {"to": "paid", "by": ["admin"]}]}}}}
        }}
        """

    private let scope = RecordKey.room(1).scope

    /// A store whose server has sent a note that breaks a constraint.
    private func bench(as role: Role = .member) throws -> SyncStore {
        let store = try SyncStore.inMemory(
            account: Bench.user, schema: try TestSchema.schema(Self.schema), environment: .counting())
        _ = try store.database.beginConnection()
        try store.database.welcomed(.make(added: [Changes.GrantChange(scope: scope, since: 1, role: role)]))
        let fields: Fields = ["text": "too long", "price": -5, "stock": 2, "phase": "open"]
        try Bench(database: store.database).apply(
            Change(
                key: .note(1), scope: scope, seq: 5, born: 5, isDeleted: false, author: UserID("bob"), created: 1,
                updated: 2, fields: fields.inRoom(1)))
        return store
    }

    private func refusal(_ store: SyncStore, _ mutations: Mutation...) async -> String? {
        do {
            try await store.write { batch in for mutation in mutations { batch.apply(mutation) } }
            return nil
        } catch {
            return (error as? StoreError)?.message ?? "\(error)"
        }
    }

    @Test func `a value outside is an error at once, and nothing is shown or sent`() async throws {
        let store = try bench()
        #expect(await refusal(store, .set(.note(1), "price", -4)) == "notes.price: must be at least 0, not -4")
        #expect(
            await refusal(store, .note(2, ["text": "longer"])) == "notes.text: must have 5 or fewer characters, not 6")
        #expect(await refusal(store, .note(2), .set(.note(1), "price", -4)) != nil)
        #expect(try store.database.pendingCount() == 0)
        let shown = try await store.read { try $0.rows("SELECT price FROM notes").count }
        #expect(shown == 1)
        // What breaks a constraint already stays; the field itself takes what passes.
        #expect(await refusal(store, .set(.note(1), "stock", 0)) != nil)
        #expect(await refusal(store, .set(.note(1), "text", "short")) == nil)
        #expect(await refusal(store, .set(.note(1), "price", -5)) == nil)
        #expect(await refusal(store, .set(.note(1), "price", 5)) == nil)
    }

    @Test func `a counter is judged by the value that is shown`() async throws {
        let store = try bench()
        func add(_ step: Int64) -> Mutation { .update(.note(1), [NamedPatch("stock", .increment(.integer(step)))]) }
        #expect(await refusal(store, add(-3)) == "notes.stock: must be at least 0, not -1")
        #expect(await refusal(store, add(-2)) == nil)
        #expect(await refusal(store, add(-1)) == "notes.stock: must be at least 0, not -1")
        #expect(await refusal(store, add(-1), add(1)) == nil)
    }

    @Test func `steps follow the value that is shown, one a write`() async throws {
        let store = try bench()
        func phase(_ value: FieldValue) -> Mutation { .set(.note(1), "phase", value) }
        #expect(
            await refusal(store, phase("paid")) == #"notes.phase: cannot change from "open" to "paid", only to "done""#)
        #expect(await refusal(store, phase("done")) == nil)
        #expect(await refusal(store, phase("done")) == nil)
        #expect(
            await refusal(store, phase("paid"))
                == #"notes.phase: may change from "done" to "paid" by admin, and ann is member"#)
        #expect(
            await refusal(store, phase(.null)) == "notes.phase: changes by the schema's steps and cannot be removed")
        #expect(await refusal(store, .note(2, ["phase": "done"])) == #"notes.phase: begins with "open", not "done""#)
        #expect(await refusal(store, .note(2, ["phase": "open"])) == nil)
        #expect(
            await refusal(
                store, .delete(.note(1)), .undelete(.note(1), Fields(dictionaryLiteral: ("phase", "open")).inRoom(1)))
                == nil)
    }

    @Test func `an admin takes the step that is theirs`() async throws {
        let store = try bench(as: .admin)
        #expect(await refusal(store, .set(.note(1), "phase", "done")) == nil)
        #expect(await refusal(store, .set(.note(1), "phase", "paid")) == nil)
    }

    @Test func `a restored record is judged by the deleted values while they are known`() async throws {
        let store = try bench()
        func restore(_ phase: FieldValue) -> Mutation {
            .undelete(.note(1), Fields(dictionaryLiteral: ("phase", phase), ("text", "too long")).inRoom(1))
        }
        #expect(await refusal(store, .delete(.note(1))) == nil)
        #expect(await refusal(store, restore("paid")) != nil)
        #expect(await refusal(store, restore("done")) == nil)
    }

    @Test func `a model that lacks a case of the schema's enum is named when the store opens`() throws {
        struct Whole: SyncModel {
            enum Phase: String, Codable { case open, done, paid }
            static let collection = "notes"
            var id = UUID()
            var phase: Phase?
        }
        struct Partial: SyncModel {
            enum Phase: String, Codable { case open, done }
            static let collection = "notes"
            var id = UUID()
            var phase: Phase?
        }
        let store = try bench()
        try store.check(Whole.self)
        let error = #expect(throws: StoreError.self) { try store.check(Partial.self) }
        #expect(error?.message == #"Partial.phase: is Phase, which does not read the schema's enum value "paid""#)
    }
}
