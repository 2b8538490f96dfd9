import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct `Conflicts of manual fields` {
    static let schema = """
        {"tidemark": 1, "name": "test", "collections": {
          "rooms": {"scope": "self", "members": "people", "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"}, "title": "string"}},
          "notes": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
            "text": {"type": "string", "merge": "manual"}, "weight": {"type": "double", "merge": "manual"},
            "done": "boolean"}},
          "people": {"scope": {"shared": "directory"}, "fields": {"name": "string"}}
        }}
        """
    private let store: SyncStore
    private var bench: Bench { Bench(database: store.database) }

    /// The server has `a`; this device wrote `mine`, and meanwhile another user wrote `theirs`.
    init() throws {
        store = try .inMemory(
            account: Bench.user, schema: try TestSchema.schema(Self.schema), environment: .counting())
        let bench = Bench(database: store.database)
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(.note(1, seq: 5, ["text": "a", "done": false]))
        try bench.write(1, .update(.note(1), [NamedPatch("text", .set("mine")), NamedPatch("done", .set(true))]))
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 6, born: 5, ["text": "theirs", "done": false]))
    }

    /// The server has accepted the uncontested part of the write.
    private func contest() throws {
        try bench.apply(
            from: "c2", to: "c3", .note(1, seq: 7, born: 5, ["text": "theirs", "done": true]),
            settled: .contested(1, 1, .note(1), ["text"]))
    }

    private func pushed(after number: Int64) throws -> [[Mutation]] {
        try store.database.nextPush(after: number, maxTransactions: 9, maxBytes: 9_999)
            .map { try $0.entry.content.get().mutations }
    }

    @Test func `a write marks the values that it saw, its own pending value included`() throws {
        try bench.write(2, .set(.note(1), "weight", 1))
        try bench.write(3, .set(.note(1), "weight", 2))
        let note = try #require(store.schema.collection("notes"))
        let seen = try pushed(after: 0).flatMap { $0 }.map { mutation -> [ValueMark?] in
            guard case .update(let patches) = mutation.action else { return [] }
            return patches.map(\.seen)
        }
        let text = try #require(note.field("text"))
        let weight = try #require(note.field("weight"))
        let done = try #require(note.field("done"))
        #expect(
            seen == [
                [ValueMark(false, of: done), ValueMark("a", of: text)], [.absent], [ValueMark(.double(1), of: weight)],
            ])
    }

    @Test func `both values stay until the app chooses, and others' changes meanwhile are visible`() async throws {
        #expect(try bench.fields(.note(1))?["text"] == "theirs")
        #expect(try await store.conflicts().isEmpty)
        #expect(try bench.fields(.note(1))?["done"] == true, "what is not contested is shown")
        try contest()
        #expect(try bench.state(.note(1)) == "conflict")
        var conflict = try #require(try await store.conflicts().first)
        #expect(conflict.fields == [.init(name: "text", mine: "mine", theirs: "theirs")])
        try bench.apply(from: "c3", to: "c4", .note(1, seq: 9, born: 5, ["text": "newest"]))
        #expect(try bench.state(.note(1)) == "conflict")
        conflict = try #require(try await store.conflicts().first)
        #expect(conflict.fields == [.init(name: "text", mine: "mine", theirs: "newest")])
    }

    @Test(.timeLimit(.minutes(5))) func `an app that watches sees a conflict come, change and go`() async throws {
        var step = 0
        for try await conflicts in store.openConflicts {
            switch step {
            case 0:
                #expect(conflicts.isEmpty)
                try contest()
            case 1:
                #expect(conflicts.first?.fields.first?.theirs == "theirs")
                try bench.apply(from: "c3", to: "c4", .note(1, seq: 9, born: 5, ["text": "newest"]))
            case 2:
                #expect(conflicts.first?.fields.first?.theirs == "newest")
                try await conflicts.first?.resolve(with: .theirs)
            default: #expect(conflicts.isEmpty)
            }
            step += 1
            if step == 4 { break }
        }
        #expect(step == 4)
    }

    @Test func `a conflict survives the end of the process`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("manual.sqlite")
        func reopened() throws -> Bench { try Bench(path: path, Self.schema) }
        var bench = try reopened()
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(.note(1, seq: 5, ["text": "a"]))
        try bench.write(1, .set(.note(1), "text", "mine"))
        try bench.apply(
            from: "c1", to: "c2", .note(1, seq: 6, born: 5, ["text": "theirs"]),
            settled: .contested(1, 1, .note(1), ["text"], isRefused: true))
        try bench.database.close()
        bench = try reopened()
        #expect(try bench.state(.note(1)) == "conflict")
        let conflicts = try bench.database.writer.read { [database = bench.database] in try database.conflicts($0) }
        #expect(conflicts.map(\.fields) == [[.init(name: "text", mine: "mine", theirs: "theirs")]])
    }

    @Test func `uncontested fields are settled at once, and none of them waits for the choice`() async throws {
        try contest()
        #expect(try bench.fields(.note(1))?["done"] == true)
        #expect(try await store.outbox.rejected().map(\.mutations) == [[.update(.note(1), [try mine("a")])]])
        #expect(try await store.outbox.rejected().map(\.rejection.code) == [.conflict])
        // Others write the settled field before the choice is made: the choice does not revert it.
        try bench.apply(from: "c3", to: "c4", .note(1, seq: 9, born: 5, ["text": "theirs", "done": false]))
        try await store.conflicts().first?.resolve(with: .theirs)
        #expect(try pushed(after: 1).isEmpty)
        #expect(try bench.fields(.note(1)) == (["text": "theirs", "done": false] as Fields).inRoom(1))
        #expect(try bench.state(.note(1)) == "synced")
        #expect(try await store.outbox.rejected().isEmpty)
    }

    @Test func `a receipt says that a part of its write waits for a choice`() async throws {
        try contest()
        let receipt = try #require(try await store.receipt(for: UUID(.transaction(1))))
        for try await step in receipt.steps {
            guard case .rejected(let rejection) = step else { continue }
            #expect(rejection.code == .conflict)
            #expect(
                rejection.message
                    == "notes.text: changed since the writer saw it; the rest of the transaction took effect")
        }
    }

    private func mine(_ seen: FieldValue) throws -> NamedPatch {
        let text = try #require(store.schema.collection("notes")?.field("text"))
        return NamedPatch("text", .set("mine"), seen: ValueMark(seen, of: text))
    }

    @Test func `mine replaces theirs`() async throws {
        try contest()
        try await store.conflicts().first?.resolve(with: .mine)
        #expect(try await store.conflicts().isEmpty)
        #expect(try await store.outbox.rejected().isEmpty)
        #expect(try bench.fields(.note(1))?["text"] == "mine")
        #expect(try bench.fields(.note(1))?["done"] == true)
        #expect(try bench.state(.note(1)) == "pending")
        let sent = try pushed(after: 1).flatMap { $0 }
        #expect(sent.map(\.action) == [.update([try mine("theirs")])])
        let id = try #require(try bench.string("SELECT id FROM tidemark_outbox WHERE n = 2").flatMap { UniqueID($0) })
        try bench.apply(
            from: "c3", to: "c4", .note(1, seq: 8, born: 5, ["text": "mine", "done": true]),
            settled: .init(
                through: 2,
                outcomes: [TransactionOutcome(number: 2, transaction: id, seq: 8, time: 7_000, rejection: nil)]
            ))
        #expect(try bench.state(.note(1)) == "synced")
    }

    @Test func `keeping theirs of a lone field writes nothing`() async throws {
        try bench.write(2, .set(.note(1), "text", "again"))
        try bench.apply(
            from: "c2", to: "c3", .note(1, seq: 8, born: 5, ["text": "x"]),
            settled: .refused(1, 1, .invalid).followed(by: .contested(2, 2, .note(1), ["text"], isRefused: true)))
        try await store.conflicts().first?.resolve(with: .theirs)
        #expect(try pushed(after: 2).isEmpty)
        #expect(try bench.state(.note(1)) == "synced")
        #expect(try await store.outbox.rejected().map(\.rejection.code) == [.invalid])
    }

    @Test func `fields are chosen one by one`() async throws {
        try bench.write(2, .update(.note(1), [NamedPatch("text", .set("z")), NamedPatch("weight", .set(2))]))
        try bench.apply(
            from: "c2", to: "c3", .note(1, seq: 8, born: 5, ["text": "x", "weight": .double(7), "done": true]),
            settled: .contested(1, 1, .note(1), ["text"])
                .followed(by: .contested(2, 2, .note(1), ["text", "weight"], isRefused: true)))
        let conflict = try #require(try await store.conflicts().first)
        #expect(
            conflict.fields == [
                .init(name: "text", mine: "z", theirs: "x"),
                .init(name: "weight", mine: 2, theirs: .double(7)),
            ])
        try await conflict.resolve(with: .value("both"), of: "text")
        #expect(try bench.fields(.note(1))?["text"] == "both")
        let rest = try #require(try await store.conflicts().first)
        #expect(rest.fields.map(\.name) == ["weight"])
        try await rest.resolve(with: .value(nil))
        #expect(try bench.fields(.note(1))?["weight"] == nil)
        #expect(try await store.conflicts().isEmpty)
        #expect(try await store.outbox.rejected().isEmpty)
    }

    @Test func `a deleted record keeps the conflict until theirs is chosen`() async throws {
        try contest()
        try bench.apply(from: "c3", to: "c4", .note(1, seq: 9, born: 5, deleted: true))
        let conflict = try #require(try await store.conflicts().first)
        #expect(conflict.fields == [.init(name: "text", mine: "mine", theirs: nil)])
        await #expect(throws: StoreError.self) { try await conflict.resolve(with: .mine) }
        #expect(try await store.conflicts().count == 1)
        try await store.outbox.rejected().first?.discard()
        #expect(try await store.conflicts().isEmpty)
    }
}
