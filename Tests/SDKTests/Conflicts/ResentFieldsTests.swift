import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Fields of a refused transaction that are sent again keep the marks of the values that their writer had seen.
@Suite struct `Fields that are sent again` {
    private static let schema = """
        {"tidemark": 1, "name": "test", "collections": {
          "rooms": {"scope": "self", "members": "people", "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"}}},
          "notes": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
            "text": {"type": "string", "merge": "manual"}, "weight": {"type": "integer", "merge": "manual"},
            "title": "string", "likes": {"type": "integer", "merge": "counter"}}},
          "people": {"scope": {"shared": "directory"}, "fields": {"name": "string"}}
        }}
        """
    private let store: SyncStore
    private var bench: Bench { Bench(database: store.database) }

    /// The device showed text `a` and title `old`, and wrote both; meanwhile others wrote both as well.
    init() throws {
        store = try .inMemory(
            account: Bench.user, schema: try TestSchema.schema(Self.schema), environment: .counting())
        let bench = Bench(database: store.database)
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(.note(1, seq: 5, ["text": "a", "title": "old", "weight": 1]))
        try bench.write(
            1, .update(.note(1), [NamedPatch("text", .set("mine")), NamedPatch("title", .set("my title"))]))
    }

    /// The server refused the first transactions, and has these values.
    private func refuse(
        _ numbers: Int64..., with code: RejectionCode, _ fields: Fields = ["text": "theirs", "title": "newer"]
    ) throws {
        try bench.apply(
            from: "c1", to: "c2", .note(1, seq: 6, born: 5, fields),
            settled: .outcomes(numbers.map { ($0, UInt64($0), code) }))
    }

    /// The server accepted the title of the first transaction, and not the text: others had written both.
    private func contest() throws -> [SyncLogEvent] {
        try bench.apply(
            from: "c1", to: "c2", .note(1, seq: 6, born: 5, ["text": "theirs", "title": "newer", "weight": 1]))
        var events: [SyncLogEvent] = []
        try store.database.apply(
            .make(
                from: "c2", to: "c3",
                [.note(1, seq: 8, born: 5, ["text": "theirs", "title": "my title", "weight": 1])],
                settled: .contested(1, 1, .note(1), ["text"])), now: 9_000
        ) { events.append($0) }
        return events
    }

    /// The patches that are sent, in their order.
    private func sent(after number: Int64 = 1) throws -> [NamedPatch] {
        try store.database.nextPush(after: number, maxTransactions: 9, maxBytes: 9_999)
            .flatMap { try $0.entry.content.get().mutations }
            .flatMap { mutation -> [NamedPatch] in
                if case .update(let patches) = mutation.action { patches } else { [] }
            }
    }

    private func mark(_ value: FieldValue, of field: String = "title") throws -> ValueMark {
        ValueMark(value, of: try #require(store.schema.collection("notes")?.field(field)))
    }

    @Test func `the choice marks the other value as seen, and changes nothing else`() async throws {
        _ = try contest()
        try await store.conflicts().first?.resolve(with: .mine)
        #expect(try sent() == [NamedPatch("text", .set("mine"), seen: try mark("theirs", of: "text"))])
    }

    @Test func `a value that the uncontested part replaced is reported and in the history`() async throws {
        let events = try contest()
        #expect(events.contains(.conflict(ConflictNote(key: .note(1), fields: ["title"], outcome: .overwrote))))
        let found = try await store.history(of: UUID(RecordKey.note(1).id), in: "notes")
        #expect(found.map(\.field) == ["title"] && found.map(\.seq) == [8])
        #expect(found.first?.old == "newer" && found.first?.new == "my title")
        #expect(found.first?.author == Bench.user && found.first?.oldAuthor == nil)
    }

    @Test func `the server's report of it replaces the device's own finding`() async throws {
        _ = try contest()
        let entry = LedgerEntry(
            key: .note(1), scope: RecordKey.room(1).scope, seq: 7,
            value: OverwrittenValue(field: "title", rule: .lww, old: "newer", new: "my title"),
            oldAuthor: UserID("bob"), author: Bench.user, client: Bench.client, app: nil, time: 7_000)
        try store.database.apply(
            HistoryAnswer(id: 1, scope: RecordKey.room(1).scope, key: .note(1), entries: [entry], next: nil), now: 9_000
        )
        let found = try await store.history(of: UUID(RecordKey.note(1).id), in: "notes")
        #expect(found.map(\.seq) == [7] && found.first?.oldAuthor == UserID("bob"))
    }

    @Test func `a write that had seen the value it replaced is not reported`() throws {
        try bench.apply(
            from: "c1", to: "c2", .note(1, seq: 6, born: 5, ["text": "a", "title": "old", "weight": 1, "likes": 3]))
        let events = try {
            var events: [SyncLogEvent] = []
            try store.database.apply(
                .make(
                    from: "c2", to: "c3",
                    [.note(1, seq: 8, born: 5, ["text": "mine", "title": "my title", "weight": 1, "likes": 3])],
                    settled: .accepted(1, 1)), now: 9_000
            ) { events.append($0) }
            return events
        }()
        #expect(events == [.committed(transactions: 1, LoggedWrites([.set(.note(1), "text", "")]))])
        #expect(try bench.count("tidemark_history") == 0)
    }

    // MARK: Retrying

    @Test func `a retried write keeps the marks of what its writer saw`() async throws {
        try refuse(1, with: .forbidden, ["text": "a", "title": "newer", "weight": 1])
        try await store.outbox.rejected().first?.retry()
        #expect(
            try sent() == [
                NamedPatch("text", .set("mine"), seen: try mark("a", of: "text")),
                NamedPatch("title", .set("my title"), seen: try mark("old")),
            ])
    }

    @Test func `several writes of one record are retried one after the other`() async throws {
        try bench.write(2, .set(.note(1), "text", "mine 2"))
        try refuse(1, 2, with: .forbidden, ["text": "a", "title": "old", "weight": 1])
        for parked in try await store.outbox.rejected() { try await parked.retry() }
        #expect(try await store.outbox.rejected().isEmpty)
        #expect(
            try sent(after: 2) == [
                NamedPatch("text", .set("mine"), seen: try mark("a", of: "text")),
                NamedPatch("title", .set("my title"), seen: try mark("old")),
                NamedPatch("text", .set("mine 2"), seen: try mark("mine", of: "text")),
            ])
    }

    @Test func `the server settles the uncontested part of a retried write`() async throws {
        try refuse(1, with: .revoked)
        try await store.outbox.rejected().first?.retry()
        #expect(
            try sent() == [
                NamedPatch("text", .set("mine"), seen: try mark("a", of: "text")),
                NamedPatch("title", .set("my title"), seen: try mark("old")),
            ])
        #expect(try bench.fields(.note(1))?["title"] == "my title")
        #expect(try bench.fields(.note(1))?["text"] == "theirs", "as the server will have it")
        #expect(try bench.state(.note(1)) == "pending")
        #expect(try await store.outbox.rejected().isEmpty)
    }

    @Test func `a retried write of only a manual field that others changed waits for a choice`() async throws {
        try bench.write(2, .set(.note(1), "weight", 2))
        try refuse(1, 2, with: .revoked, ["text": "a", "title": "old", "weight": 7])
        let parked = try await store.outbox.rejected().last
        let receipt = try await parked?.retry()
        #expect(try sent(after: 2).isEmpty)
        #expect(try bench.state(.note(1)) == "conflict")
        #expect(try await store.outbox.rejected().map(\.rejection.code) == [.revoked, .conflict])
        #expect(receipt?.id == parked?.id)
        let conflict = try #require(try await store.conflicts().first)
        #expect(conflict.fields == [.init(name: "weight", mine: 2, theirs: 7)])
        // Retrying once more is no choice either.
        try await store.outbox.rejected().last?.retry()
        #expect(try await store.conflicts() == [conflict])
        try await conflict.resolve(with: .mine)
        #expect(try sent(after: 2) == [NamedPatch("weight", .set(2), seen: try mark(7, of: "weight"))])
        #expect(try await store.outbox.rejected().map(\.rejection.code) == [.revoked])
        #expect(try bench.state(.note(1)) == "pending")
    }

    @Test func `an edited write keeps the marks of its first version`() async throws {
        try refuse(1, with: .tooLarge, ["text": "a", "title": "newer", "weight": 1])
        try await store.outbox.rejected().first?.edit { mutations in
            mutations = [.update(.note(1), [NamedPatch("title", .set("short")), NamedPatch("weight", .set(2))])]
        }
        #expect(
            try sent() == [
                NamedPatch("title", .set("short"), seen: try mark("old")),
                NamedPatch("weight", .set(2), seen: try mark(1, of: "weight")),
            ])
    }

    // MARK: Choosing

    @Test func `a choice is made between the displayed values`() async throws {
        _ = try contest()
        let conflict = try #require(try await store.conflicts().first)
        try bench.apply(from: "c3", to: "c4", .note(1, seq: 9, born: 5, ["text": "newest", "title": "newer"]))
        let error = await #expect(throws: StoreError.self) { try await conflict.resolve(with: .mine) }
        #expect(error?.code == .rejected(.conflict))
        #expect(try sent().isEmpty)
        let read = try #require(try await store.conflicts().first)
        #expect(read.fields == [.init(name: "text", mine: "mine", theirs: "newest")])
        try await read.resolve(with: .mine)
        #expect(try sent().last == NamedPatch("text", .set("mine"), seen: try mark("newest", of: "text")))
    }

    @Test func `a value written here after the conflict was read is not overwritten unseen`() async throws {
        _ = try contest()
        let conflict = try #require(try await store.conflicts().first)
        try bench.write(2, .set(.note(1), "text", "mine 2"))
        try bench.apply(
            from: "c3", to: "c4", .note(1, seq: 9, born: 5, ["text": "newest", "title": "newer"]),
            settled: .contested(2, 2, .note(1), ["text"], isRefused: true))
        await #expect(throws: StoreError.self) { try await conflict.resolve(with: .theirs) }
        let read = try #require(try await store.conflicts().first)
        #expect(read.fields == [.init(name: "text", mine: "mine 2", theirs: "newest")])
        try await read.resolve(with: .theirs)
        #expect(try await store.conflicts().isEmpty)
    }

    @Test func `a choice is made only once`() async throws {
        _ = try contest()
        let conflict = try #require(try await store.conflicts().first)
        try await conflict.resolve(with: .theirs)
        try await conflict.resolve(with: .theirs)
        await #expect(throws: StoreError.self) { try await conflict.resolve(with: .mine) }
        #expect(try sent().isEmpty)
    }
}
