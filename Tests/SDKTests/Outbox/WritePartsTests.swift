import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Writes that are larger than a transaction may be.
@Suite(.timeLimit(.minutes(5))) struct WritePartsTests {
    private let room = Room(people: ["ann"])

    private func notes(_ count: Int, _ text: String = "x") -> [Note] {
        (0..<count).map { _ in Note(room: room.id, text: text) }
    }

    private func entries(_ store: SyncStore) throws -> [NumberedEntry] {
        try store.database.nextPush(after: 0, maxTransactions: 1_000, maxBytes: .max)
    }

    @Test func `more than the server accepts is refused by name, and nothing of it is written`() async throws {
        let store = try SyncStore.test()
        let cards = notes(1_000)
        let error = await #expect(throws: StoreError.self) {
            try await store.write { batch in for card in cards { batch.create(card) } }
        }
        #expect(error?.code == .rejected(.tooLarge))
        for word in ["1000 mutations", "64 mutations", "262144 bytes", "write(.inParts)"] {
            #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
        }
        #expect(try await store.repository(Note.self).readAll().isEmpty)
        #expect(try store.database.pendingCount() == 0)
    }

    @Test func `in parts it is written whole, and sent as transactions that are each small enough`() async throws {
        let store = try SyncStore.test()
        let cards = notes(1_000)
        let receipt = try await store.write(.inParts) { [room] batch in
            batch.create(room)
            for card in cards { batch.create(card) }
        }
        #expect(try await store.repository(Note.self).readAll().count == 1_000)
        let entries = try entries(store)
        #expect(entries.map(\.number) == (1...16).map { $0 })
        #expect(entries.map { UUID($0.entry.id ?? UniqueID(high: 0, low: 0)) } == receipt.parts)
        let mutations = try entries.map { try $0.entry.content.get().mutations }
        #expect(mutations.map(\.count) == Array(repeating: 64, count: 15) + [41])
        #expect(mutations.flatMap { $0 }.map(\.key.id) == [UniqueID(room.id)] + cards.map { UniqueID($0.id) })
        #expect(receipt.id == receipt.parts.last)
    }

    @Test func `a write that fits is one transaction, also if it may be cut`() async throws {
        let store = try SyncStore.test()
        let receipt = try await store.write(.inParts) { [room] batch in
            batch.create(room)
            for card in notes(63) { batch.create(card) }
        }
        #expect(receipt.parts == [receipt.id])
        let nothing = try await store.write(.inParts) { _ in }
        #expect(try await store.receipt(for: nothing.parts) == nil)
    }

    @Test func `it is cut by bytes as well`() async throws {
        let store = try SyncStore.test()
        try await store.write(.inParts) { [room] batch in
            batch.create(room)
            for index in 0..<20 {
                var note = Note(room: room.id, text: "\(index)")
                note.body = [.init(kind: .text, lines: [String(repeating: "y", count: 30_000)])]
                batch.create(note)
            }
        }
        let entries = try entries(store)
        #expect(entries.count == 3)
        #expect(entries.allSatisfy { $0.bytes <= 262_144 })
    }

    @Test func `a record that is written in several parts has the same final state`() async throws {
        let store = try SyncStore.test()
        let note = Note(room: room.id, text: "0", likes: 0)
        try await store.write(.inParts) { [room] batch in
            batch.create(room)
            batch.create(note)
            for index in 1...200 {
                batch.update(Note.self, note.id) { note in
                    note.text = "\(index)"
                    note.likes = index
                }
            }
        }
        let shown = try #require(try await store.repository(Note.self).read(note.id))
        #expect(shown.text == "200" && shown.likes == 200)
        #expect(try entries(store).count == 4)
    }

    @Test func `its receipt ends when all parts are settled, and a refused one is reported while the others stand`()
        async throws
    {
        let store = try SyncStore.test()
        let bench = Bench(database: store.database)
        try bench.join(ScopeID(record: room.id))
        let receipt = try await store.write(.inParts) { batch in for card in notes(130) { batch.create(card) } }
        let again = try #require(try await store.receipt(for: receipt.parts))
        var steps = again.steps.makeAsyncIterator()
        #expect(try await steps.next() == .queued)
        _ = try entries(store)
        #expect(try await steps.next() == .sending)
        func settle(_ number: Int64, _ rejection: Rejection?) throws {
            let outcome = TransactionOutcome(
                number: number, transaction: UniqueID(receipt.parts[Int(number) - 1]), seq: 10 + number, time: 5,
                rejection: rejection)
            try bench.apply(
                from: "c\(number - 1)", to: "c\(number)", settled: Settled(through: number, outcomes: [outcome]))
        }
        try settle(1, nil)
        try settle(2, Rejection(.quota, "full"))
        try settle(3, nil)
        #expect(try await steps.next() == .rejected(Rejection(.quota, "full")))
        #expect(try await steps.next() == nil)
        #expect(try await store.outbox.rejected().map(\.id) == [receipt.parts[1]])
    }

    @Test func `the server's own bounds apply, also before the next connection`() async throws {
        let folder = try TemporaryFolder()
        let schema = try TestSchema.schema()
        var store = try await SyncStore.open(account: Bench.user, at: folder.url, schema: schema)
        _ = try store.database.beginConnection()
        var welcome = Welcome.make()
        welcome.limits.model.mutationsMax = 3
        try store.database.welcomed(welcome)
        try await store.close()
        store = try await SyncStore.open(account: Bench.user, at: folder.url, schema: schema)
        let error = await #expect(throws: StoreError.self) {
            try await store.write { batch in for card in notes(4) { batch.create(card) } }
        }
        #expect(error?.message.contains("the server takes 3 mutations") == true)
        #expect(
            try await store.write(.inParts) { batch in for card in notes(4) { batch.create(card) } }.parts.count == 2)
        welcome.limits.model.mutationsMax = 0
        _ = try store.database.beginConnection()
        try store.database.welcomed(welcome)
        #expect(
            try await store.write(.inParts) { batch in for card in notes(2) { batch.create(card) } }.parts.count == 2)
    }
}
