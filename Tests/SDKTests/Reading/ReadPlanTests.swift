import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

/// A model does not list its fields; the fields that it was seen to request are read.
@Suite(.timeLimit(.minutes(5))) struct ReadPlanTests {
    /// A model whose text is only read while it is not done.
    private struct Chore: SyncModel, Equatable {
        static let collection = "notes"
        var id: UUID
        var done: Bool
        var text: String?

        enum CodingKeys: String, CodingKey { case id, done, text }

        init(from decoder: any Decoder) throws {
            let record = try decoder.container(keyedBy: CodingKeys.self)
            id = try record.decode(UUID.self, forKey: .id)
            done = try record.decodeIfPresent(Bool.self, forKey: .done) ?? false
            if !done { text = try record.decodeIfPresent(String.self, forKey: .text) }
        }
    }

    private struct HandChore: SyncModel, Equatable {
        static let collection = "notes"
        var id: UUID
        var done: Bool
        var text: String?

        init(reading record: inout RecordReader) throws {
            id = try record["id"]
            done = try record["done"] ?? false
            // Every error here is treated as a chore without text; the store must not rely on the error.
            if !done { text = (try? record["text"]) ?? "untitled" }
        }
    }

    /// A model with any fields.
    private struct Loose: SyncModel {
        static let collection = "notes"
        var id: UUID
        var names: Set<String>

        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let record = try decoder.container(keyedBy: Key.self)
            id = try record.decode(UUID.self, forKey: Key(stringValue: "id"))
            names = Set(record.allKeys.map(\.stringValue))
        }

        func encode(to encoder: any Encoder) throws {}
    }

    private func store(_ changes: Change...) throws -> SyncStore {
        let bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        for (index, change) in changes.enumerated() {
            try bench.apply(from: "c\(index)", to: "c\(index + 1)", change)
        }
        return SyncStore(database: bench.database, environment: .counting())
    }

    @Test func `a field that only later records need is read all the same`() async throws {
        let store = try store(
            .note(1, seq: 2, ["done": true, "text": "a"]), .note(2, seq: 3, ["text": "b"]),
            .note(3, seq: 4, ["done": true]), .note(4, seq: 5))
        #expect(try await store.repository(Chore.self).readAll().map(\.text) == [nil, "b", nil, nil])
        #expect(
            try await store.repository(HandChore.self).readAll().map(\.text) == [nil, "b", nil, "untitled"])
        #expect(try await store.repository(HandChore.self).read(UUID(RecordKey.note(2).id))?.text == "b")
    }

    @Test func `an observer sees changes of a field that was needed only later`() async throws {
        let store = try store(.note(1, seq: 2, ["done": true, "text": "a"]))
        let id = UUID(RecordKey.note(1).id)
        let notes = store.repository(Note.self)
        var chores = store.repository(Chore.self).observe().makeAsyncIterator()
        #expect(try await chores.next()?.map(\.text) == [nil])
        try await notes.update(id) { $0.done = false }
        #expect(try await chores.next()?.map(\.text) == ["a"])
        try await notes.update(id) { $0.text = "b" }
        #expect(try await chores.next()?.map(\.text) == ["b"])
    }

    @Test func `a snapshot's observer sees changes of the fields in its models`() async throws {
        let store = try store(.note(1, seq: 2, ["text": "a"]))
        let id = UUID(RecordKey.note(1).id)
        let titles = store.observe { try $0.readAll(HandNote.self, "WHERE text IS NOT NULL").map(\.note.likes) }
        var values = titles.makeAsyncIterator()
        #expect(try await values.next() == [nil])
        try await store.repository(Note.self).update(id) { $0.likes = 3 }
        #expect(try await values.next() == [3])
    }

    @Test func `a model may ask which fields there are`() async throws {
        let store = try store(.note(1, seq: 2, ["text": "a", "unheardOf": 1]), .note(2, seq: 3, ["likes": 2]))
        let records = try await store.repository(Loose.self).readAll()
        let envelope: Set = ["id", "serverID", "serverTime", "createdTime", "author", "syncState", "room"]
        #expect(records.map(\.names) == [envelope.union(["text", "unheardOf"]), envelope.union(["likes"])])
    }

    @Test func `only the columns that a model shows are read`() async throws {
        let store = try store(.note(1, seq: 2, ["text": "a"]))
        #expect(try await store.repository(Title.self).readAll().map(\.text) == ["a"])
        let plan = store.database.plans.plan(Title.self, try store.database.table("notes"))
        #expect(plan.columnsSQL == #"local_id, extra, "room", "text""#)
    }

    @Test func `a decoder that is kept throws`() async throws {
        // Each read uses it in turn, and then this test.
        final class Kept: @unchecked Sendable { var decoder: (any Decoder)? }
        struct Keeper: SyncModel {
            static let kept = Kept()
            static let collection = "notes"
            var id: UUID

            init(from decoder: any Decoder) throws {
                Keeper.kept.decoder = decoder
                id = try decoder.container(keyedBy: ReadPlanTests.Loose.Key.self)
                    .decode(UUID.self, forKey: .init(stringValue: "id"))
            }

            func encode(to encoder: any Encoder) throws {}
        }
        let store = try store(.note(1, seq: 2))
        #expect(try await store.repository(Keeper.self).readAll(limit: 1).count == 1)
        let decoder = try #require(Keeper.kept.decoder)
        let error = #expect(throws: StoreError.self) { try Keeper(from: decoder) }
        #expect(error?.message == "notes: a decoder was used after its record had been read")
    }

    @Test func `a read of a cancelled task does not begin`() async throws {
        let store = try store(.note(1, seq: 2))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.repository(Note.self).readAll(limit: 1).count
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a negative limit is an error, and a limit of zero reads nothing`() async throws {
        let store = try store(.note(1, seq: 2), .note(2, seq: 3))
        let error = await #expect(throws: StoreError.self) {
            try await store.repository(Note.self).readAll(limit: -1)
        }
        #expect(error?.code == .invalidArgument)
        #expect(try await store.repository(Note.self).readAll(limit: 0).isEmpty)
    }

    @Test func `a wrong number of arguments is an error`() async throws {
        let store = try store(.note(1, seq: 2))
        await #expect(throws: (any Error).self) {
            try await store.read { try $0.readAll(Note.self, "WHERE text = ?").count }
        }
    }
}
