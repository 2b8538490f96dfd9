import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct SnapshotTests {
    /// When a note was made.
    private struct Birth: SyncModel {
        static let collection = "notes"
        var id = UUID()
        var createdTime: Date?
    }

    private let room = UUID(RecordKey.room(1).id)

    @Test func `a snapshot reads rows, models and single records by arguments`() async throws {
        let store = try SyncStore.test()
        let notes = (1...3).map { Note(room: room, text: "n\($0)", likes: $0, done: $0 == 3) }
        try await store.write { t in for note in notes { t.create(note) } }
        let (rows, texts, first) = try await store.read { snapshot in
            (
                try snapshot.rows(
                    "SELECT text, likes * 1.5 AS more, tags FROM notes WHERE likes >= ? ORDER BY likes", [2]),
                try snapshot.readAll(Note.self, "WHERE scope = ? AND done = ?", [.id(room), false]).map(\.text),
                try snapshot.read(Birth.self, notes[0].id)
            )
        }
        #expect(rows == [["text": "n2", "more": 3.0], ["text": "n3", "more": 4.5]])
        #expect(texts == ["n1", "n2"])
        #expect(first?.id == notes[0].id)
        #expect((first?.createdTime).map { $0 > Date(timeIntervalSince1970: 1) } == true)
        #expect(try await store.read { $0.account } == Bench.user)
        await #expect(throws: StoreError.self) {
            try await store.read { try $0.rows("DELETE FROM notes RETURNING local_id") }
        }
        #expect(try await store.repository(Note.self).readAll().count == 3)
    }

    @Test func `an observed query is read again when its tables change, and only emitted when it differs`()
        async throws
    {
        let store = try SyncStore.test()
        // The first query's answer decides which table the second one reads.
        var counts = store.observe { snapshot -> Int in
            guard try !snapshot.rows("SELECT 1 FROM rooms").isEmpty else { return -1 }
            return try snapshot.rows("SELECT local_id FROM notes WHERE likes > ?", [1]).count
        }.makeAsyncIterator()
        #expect(try await counts.next() == -1)
        try await store.repository(Room.self).create(Room(people: ["ann"]))
        #expect(try await counts.next() == 0)
        try await store.repository(Note.self).create(Note(room: room, likes: 1))
        try await store.repository(Note.self).create(Note(room: room, likes: 2))
        #expect(try await counts.next() == 1)
    }

    @Test func `an observer of a scope's filling sees each page`() async throws {
        let store = try SyncStore.test()
        let bench = Bench(database: store.database)
        let sql = "SELECT floor, is_complete FROM tidemark_scope_page WHERE collection = 'notes'"
        var progress = store.observe { try $0.rows(sql) }.makeAsyncIterator()
        #expect(try await progress.next() == [])
        try bench.join(RecordKey.room(1).scope)
        #expect(try await progress.next() == [["is_complete": 0]])
        try bench.page(RecordKey.room(1).scope, "notes", .note(1, seq: 9), next: 9)
        #expect(try await progress.next() == [["floor": 9, "is_complete": 0]])
        try bench.page(RecordKey.room(1).scope, "notes")
        #expect(try await progress.next() == [["floor": 9, "is_complete": 1]])
    }

    @Test func `unsent writes are found by their records, the last write of each`() async throws {
        let store = try SyncStore.test()
        let notes = (1...4).map { Note(room: room, text: "\($0)") }
        for note in notes { try await store.repository(Note.self).create(note) }
        _ = try store.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 99_999, now: 7_000)
        try await store.repository(Note.self).update(notes[2].id) { $0.text = "again" }
        let asked = [notes[1].id, notes[2].id, UUID()]
        let (some, all) = try await store.read { [room] snapshot in
            (
                try snapshot.pendingWrites(to: asked, of: Note.collection),
                try snapshot.pendingWrites(in: .of(room))
            )
        }
        #expect(Set(some.keys.map { UUID($0.id) }) == Set(asked.prefix(2)))
        #expect(some.allSatisfy { all[$0.key] == $0.value })
        #expect(some.values.map(\.attempts).sorted() == [0, 1])
        #expect(try await store.read { try $0.pendingWrites(to: [], of: Note.collection) }.isEmpty)
    }

    @Test func `a refused creation is found with its transaction`() async throws {
        let store = try SyncStore.test()
        let bench = Bench(database: store.database)
        try bench.join(RecordKey.room(1).scope)
        let note = Note(room: room, text: "a")
        let receipt = try await store.repository(Note.self).create(note)
        let pending = try await store.read { [room] in try $0.pendingWrites(in: .of(room)) }
        #expect(pending.count == 1)
        #expect(pending.values.first?.attempts == 0)
        #expect(pending.values.first?.isSending == false)
        let outcome = TransactionOutcome(
            number: 1, transaction: UniqueID(receipt.id), seq: 5, time: 6, rejection: Rejection(.quota, "full"))
        try bench.apply(settled: Settled(through: 1, outcomes: [outcome]))
        let refused = try await store.read { snapshot in
            try snapshot.rejectedCreations(Note.self).map { ($0.model, $0.transaction) }
        }
        #expect(refused.map(\.0.id) == [note.id])
        #expect(refused.first?.0.text == "a")
        #expect(refused.first?.0.syncState == .failed)
        #expect(refused.first?.1.id == receipt.id)
        try await refused.first?.1.discard()
        #expect(try await store.read { try $0.rejectedCreations(Note.self).isEmpty })
    }

    @Test func `ensuring a record creates it once and lets a later edit of the batch through`() async throws {
        let store = try SyncStore.test()
        let person = Room(people: ["ann"])
        for title in ["first", "second"] {
            try await store.write { batch in
                batch.ensure(person)
                batch.update(Room.self, person.id) { $0.title = title }
            }
        }
        #expect(try await store.repository(Room.self).read(person.id)?.title == "second")
        let pushed = try store.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        #expect(try pushed.map { try $0.entry.content.get().mutations.count } == [2, 1])
    }

    @Test func `live values can come from other sources`() async throws {
        let values = LiveValues {
            AsyncThrowingStream<Int, any Error> { values in
                values.yield(1)
                values.yield(2)
                values.finish()
            }
        }
        for _ in 1...2 {
            var seen: [Int] = []
            for try await value in values { seen.append(value) }
            #expect(seen == [1, 2])
        }
    }
}
