import Foundation
import GRDB
import Testing
import TidemarkModel

@testable import Tidemark

/// Reads by hand, reads with a decoder, and the decoding of the whole record agree.
@Suite struct RecordReaderTests {
    private static let names = [
        "id", "room", "text", "likes", "best", "tags", "seen", "done", "due", "meta", "body", "weight", "file",
        "serverID", "serverTime", "author", "syncState", "createdTime", "unheardOf",
    ]
    private static let values: [FieldValue] = [
        .null, true, 0, 7, .integer(.max), .integer(.min), 2.5, "", "é\n\"", "a text that does not fit into a word",
        "018f3a2b-0000-7000-8000-00000000000a", "018F3A2B-0000-7000-8000-00000000000A", "synced", [], ["a", "é", "\\"],
        ["a", "b"], ["a", 1], [["a"]], .object([:]), .object(["pages": 3, "ratio": 0.5]), .object(["pages": "3"]),
        [.object(["kind": "list", "lines": ["1"], "raw": "AP8=", "at": 5_000])],
        [.object(["kind": "odd", "lines": []])],
    ]

    /// Every field with every value, whether its type can hold it or not.
    @Test(arguments: names)
    func `a field reads the same by every way, and fails the same`(_ name: String) async throws {
        let bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        let store = SyncStore(database: bench.database, environment: .counting())
        for (index, value) in Self.values.enumerated() {
            var change = Change.note(UInt64(index), seq: Int64(index + 2))
            change.fields[name] = value
            try bench.apply(from: "c\(index)", to: "c\(index + 1)", change)
            let hand = await outcome { try await store.repository(HandNote.self).read(UUID(change.key.id))?.note }
            let coded = await outcome { try await store.repository(Note.self).read(UUID(change.key.id)) }
            let whole = await outcome { try Self.whole(Note.self, change.key, bench) }
            #expect(hand == whole, "\(name): \(value.json)")
            #expect(coded == whole, "\(name): \(value.json)")
        }
    }

    @Test(arguments: names)
    func `a required field reads the same by every way, and its absence fails the same`(
        _ name: String
    ) async throws {
        let bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        let store = SyncStore(database: bench.database, environment: .counting())
        let full: Fields = [
            "text": "a", "likes": 1, "best": 0.5, "tags": ["x"], "seen": ["y"], "done": true, "due": 5_000,
        ]
        for (index, value) in ([nil] + Self.values.map { $0 }).enumerated() {
            var change = Change.note(UInt64(index), seq: Int64(index + 2), full)
            change.fields[name] = value
            try bench.apply(from: "c\(index)", to: "c\(index + 1)", change)
            let id = UUID(change.key.id)
            let hand = await outcome { try await store.repository(StrictHandNote.self).read(id)?.note }
            let coded = await outcome { try await store.repository(StrictNote.self).read(id) }
            let whole = await outcome { try Self.whole(StrictNote.self, change.key, bench) }
            #expect(hand == whole, "\(name): \(value?.json ?? "not set")")
            #expect(coded == whole, "\(name): \(value?.json ?? "not set")")
        }
    }

    @Test(arguments: ["room", "text", "likes", "best", "tags", "done", "due", "meta", "body", "file"])
    func `a column with a value that this SDK never writes is reported as corruption`(_ column: String) async throws {
        let bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(.note(1, seq: 2, ["text": "a"]))
        let store = SyncStore(database: bench.database, environment: .counting())
        let id = UUID(RecordKey.note(1).id)
        // Once correctly, so that the plans exist.
        #expect(try await store.repository(HandNote.self).read(id)?.note == store.repository(Note.self).read(id))
        try await bench.database.writer.write { db in
            try db.execute(sql: "UPDATE notes SET \(column) = x'ff'")
        }
        let hand = await outcome { try await store.repository(HandNote.self).read(id)?.note }
        let coded = await outcome { try await store.repository(Note.self).read(id) }
        let whole = await outcome { try Self.whole(Note.self, RecordKey.note(1), bench) }
        #expect(hand.error?.hasPrefix("corrupt: ") == true)
        #expect(hand == whole)
        #expect(coded == whole)
    }

    @Test func `an impossible state or author is corruption, also when a model does without it`()
        async throws
    {
        struct Careless: SyncModel {
            static let collection = "notes"
            var id: UUID
            var syncState: RecordState?
            var author: String?

            init(reading record: inout RecordReader) throws {
                id = try record["id"]
                syncState = (try? record["syncState"]) ?? .synced
                author = (try? record["author"]) ?? "nobody"
            }
        }
        for change in ["state = 'odd'", "author = x'00'"] {
            let bench = try Bench()
            try bench.join(RecordKey.room(1).scope)
            try bench.apply(.note(1, seq: 2))
            let store = SyncStore(database: bench.database, environment: .counting())
            #expect(try await store.repository(Careless.self).readAll().count == 1)
            try await bench.database.writer.write { db in try db.execute(sql: "UPDATE notes SET \(change)") }
            let error = await #expect(throws: StoreError.self) { try await store.repository(Careless.self).readAll() }
            #expect(error?.code == .corrupt)
        }
    }

    // MARK: Both ways of reading

    private struct Outcome<Value: Equatable>: Equatable {
        var value: Value?
        var error: String?
    }

    private func outcome<Value: Equatable>(_ read: () async throws -> Value?) async -> Outcome<Value> {
        do {
            return Outcome(value: try await read())
        } catch let error as StoreError {
            return Outcome(error: "\(error.code): \(error.message)")
        } catch {
            return Outcome(error: "\(error)")
        }
    }

    /// All of the record's fields, decoded.
    private static func whole<Model: SyncModel>(
        _ model: Model.Type, _ key: RecordKey, _ bench: Bench
    ) throws -> Model? {
        let coding = try bench.database.coding(model)
        return try bench.row(key).map { try coding.model($0, .synced) }
    }
}
