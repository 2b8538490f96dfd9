import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

/// Fields that are read as types that they do not have, or have only in part.
@Suite struct MisfitTests {
    /// The results of reading each field as each type.
    private struct Misfit: SyncModel, Equatable {
        static let collection = "notes"
        var id: UUID
        var outcomes: [String] = []

        private static let names: [StaticString] = [
            "id", "room", "text", "likes", "best", "tags", "done", "due", "meta", "body", "file", "serverID",
            "serverTime", "createdTime", "author", "syncState", "unheardOf",
        ]

        init(reading record: inout RecordReader) throws {
            id = try record["id"]
            for name in Self.names {
                note(name) { try record[name] as String }
                note(name) { try record[name] as String? }
                note(name) { try record[name] as Int }
                note(name) { try record[name] as Int? }
                note(name) { try record[name] as Int64 }
                note(name) { try record[name] as Int64? }
                note(name) { try record[name] as Double }
                note(name) { try record[name] as Double? }
                note(name) { try record[name] as Bool }
                note(name) { try record[name] as Bool? }
                note(name) { try record[name] as Date }
                note(name) { try record[name] as Date? }
                note(name) { try record[name] as UUID }
                note(name) { try record[name] as UUID? }
                note(name) { try record[name] as Set<String> }
                note(name) { try record[name] as Set<String>? }
                note(name) { try record[name] as RecordState }
                note(name) { try record[name] as RecordState? }
                note(name) { try record[name] as [String: Int] }
                note(name) { try record[name] as [String: Int]? }
            }
        }

        init(from decoder: any Decoder) throws {
            let record = try decoder.container(keyedBy: FieldName.self)
            id = try record.decode(UUID.self, forKey: FieldName("id"))
            for name in Self.names {
                note(name, String.self, record)
                note(name, Int.self, record)
                note(name, Int64.self, record)
                note(name, Double.self, record)
                note(name, Bool.self, record)
                note(name, Date.self, record)
                note(name, UUID.self, record)
                note(name, Set<String>.self, record)
                note(name, RecordState.self, record)
                note(name, [String: Int].self, record)
            }
        }

        func encode(to encoder: any Encoder) throws {}

        private mutating func note<Value: Decodable>(
            _ name: StaticString, _ type: Value.Type, _ record: KeyedDecodingContainer<FieldName>
        ) {
            let key = FieldName(name.description)
            note(name) { try record.decode(type, forKey: key) }
            note(name) { try record.decodeIfPresent(type, forKey: key) }
        }

        private mutating func note<Value>(_ name: StaticString, _ read: () throws -> Value) {
            do {
                let value = try read()
                let set = value as? Set<String>
                outcomes.append("\(name): \(set.map { "\($0.sorted())" } ?? "\(value)")")
            } catch {
                outcomes.append("\(name) as \(Value.self): \(StoreError.reason(error))")
            }
        }
    }

    @Test(
        arguments: [
            [:],
            [
                "text": "018f3a2b-0000-7000-8000-00000000000a", "likes": 1, "best": 2, "tags": ["a"], "done": true,
                "due": 5_000, "meta": .object(["a": 1]), "body": ["x"], "unheardOf": 4,
            ],
            [
                "text": "synced", "likes": -1, "best": 2.5, "tags": [], "done": false, "due": -1, "meta": .object([:]),
                "body": "x", "file": "pending", "unheardOf": ["x"],
            ],
            ["text": 1, "likes": "1", "best": true, "tags": "a", "done": 1, "due": 0.5, "meta": ["x"], "body": 7],
            ["text": .null, "likes": .null, "body": .null, "unheardOf": .null, "author": 5, "id": "x"],
        ] as [Fields])
    func `each field gives each type the same result by every way`(_ fields: Fields) async throws {
        let bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(.note(1, seq: 2, fields))
        let key = RecordKey.note(1)
        let record = try #require(try bench.row(key))
        let whole = try bench.database.coding(Misfit.self).model(record, .synced)
        let store = SyncStore(database: bench.database, environment: .counting())
        // The second read has a plan.
        for _ in 0..<2 {
            let hand = try #require(try await store.repository(Misfit.self).read(UUID(key.id)))
            let coded = try #require(try await store.repository(Coded.self).read(UUID(key.id)))
            #expect(hand.outcomes == whole.outcomes)
            #expect(coded.misfit.outcomes == whole.outcomes)
        }
        #expect(whole.outcomes.count > 300)
    }

    private struct Coded: SyncModel {
        static let collection = "notes"
        let misfit: Misfit
        var id: UUID { misfit.id }

        init(from decoder: any Decoder) throws { misfit = try Misfit(from: decoder) }

        func encode(to encoder: any Encoder) throws {}
    }
}
