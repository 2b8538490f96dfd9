import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct TypedRowsTests {
    private struct Load: Decodable, Equatable {
        var room: UUID
        var number: Int
        var latest: Date?
        var anyDone: Bool
        var share: Double
    }

    private struct Whole: Decodable, Equatable {
        var text: String
        var tags: Set<String>?
        var meta: Note.Meta?
        var body: [Note.Block]?
        var kind: Note.Kind
        var done: Bool?
    }

    private let room = UUID()

    private func store() async throws -> SyncStore {
        let store = try SyncStore.test()
        let block = Note.Block(kind: .list, lines: ["a"], at: Date(timeIntervalSince1970: 3))
        try await store.write { t in
            t.create(
                Note(
                    room: room, text: "a", likes: 1, tags: ["x", "y"], done: true, due: Date(timeIntervalSince1970: 5),
                    meta: .init(pages: 2, ratio: 0.5), body: [block]))
            t.create(Note(room: room, text: "b", likes: 2))
        }
        return store
    }

    @Test func `rows of a query become values of the app's type`() async throws {
        let loads = try await store().read { snapshot in
            try snapshot.rows(
                """
                SELECT room, count(*) AS number, max(due) AS latest, max(done) AS anyDone, avg(likes) AS share
                FROM notes WHERE likes >= ? GROUP BY room
                """, [1], as: Load.self)
        }
        #expect(
            loads == [Load(room: room, number: 2, latest: Date(timeIntervalSince1970: 5), anyDone: true, share: 1.5)])
    }

    @Test func `sets, structs and enumerations are decoded from their columns`() async throws {
        let rows = try await store().read { snapshot in
            try snapshot.rows(
                "SELECT text, tags, meta, body, 'list' AS kind, done FROM notes ORDER BY text", as: Whole.self)
        }
        let first = try #require(rows.first)
        #expect(first.text == "a" && first.tags == ["x", "y"] && first.meta == .init(pages: 2, ratio: 0.5))
        #expect(first.body?.first?.lines == ["a"] && first.body?.first?.at == Date(timeIntervalSince1970: 3))
        #expect(first.kind == .list && first.done == true)
        #expect(rows.last == Whole(text: "b", kind: .list))
    }

    @Test func `a type of one value reads the only column`() async throws {
        let store = try await store()
        #expect(try await store.read { try $0.rows("SELECT likes FROM notes ORDER BY likes", as: Int.self) } == [1, 2])
        #expect(
            try await store.read { try $0.rows("SELECT likes > 1 FROM notes ORDER BY 1", as: Bool.self) } == [
                false, true,
            ])
        #expect(try await store.read { try $0.rows("SELECT DISTINCT room FROM notes", as: UUID.self) } == [room])
    }

    @Test func `each row is decoded separately: a later row need not have the same columns set`() async throws {
        struct Row: Decodable, Equatable {
            var second: String?
            var unnamed: Int?
            var first: Int
            var flag: Bool?
        }
        let rows = try await store().read { snapshot in
            try snapshot.rows(
                """
                SELECT 1 AS first, 'a' AS second, NULL AS flag UNION ALL SELECT 2, NULL, 1 UNION ALL SELECT 3, 'c', 0
                ORDER BY 1
                """, as: Row.self)
        }
        #expect(
            rows == [
                Row(second: "a", first: 1), Row(first: 2, flag: true), Row(second: "c", first: 3, flag: false),
            ])
    }

    @Test func `numbers and text are decoded as the type requires, not as the column has them`() async throws {
        struct Row: Decodable, Equatable {
            var whole: Double
            var text: String
            var size: Int32
            var id: UUID
            var state: RecordState
            var values: [String: Int]
        }
        let id = UUID()
        let row = try await store().read { snapshot in
            try snapshot.rows(
                """
                SELECT 2 AS whole, 'é' AS text, 7 AS size, lower(?) AS id, 'pending' AS state, '{"a":1}' AS "values",
                    'twice' AS text, 'é' AS text
                """, [.string(id.uuidString)], as: Row.self)
        }
        #expect(row == [Row(whole: 2, text: "é", size: 7, id: id, state: .pending, values: ["a": 1])])
    }

    @Test func `a type whose names differ from row to row is decoded with the names of each`() async throws {
        let store = try await store()
        let rows = try await store.read { snapshot in
            try snapshot.rows(
                "SELECT 1 AS a, NULL AS b, 3 AS c UNION ALL SELECT NULL, 2, 3", as: [String: Int].self)
        }
        #expect(rows == [["a": 1, "c": 3], ["b": 2, "c": 3]])
    }

    @Test func `a decoder that a value keeps is useless after its row`() async throws {
        // Used after the read has ended, by this test alone.
        struct Keeper: Decodable, @unchecked Sendable {
            let decoder: any Decoder
            init(from decoder: any Decoder) { self.decoder = decoder }
        }
        let store = try await store()
        let error = await #expect(throws: StoreError.self) {
            let keeper = try await store.read { try $0.rows("SELECT 1 AS number", as: Keeper.self)[0] }
            _ = try Load(from: keeper.decoder)
        }
        #expect(error?.message == "a decoder was used after its row had been read")
    }

    @Test func `a row that does not decode is named by its column`() async throws {
        let store = try await store()
        var error = await #expect(throws: StoreError.self) {
            try await store.read { try $0.rows("SELECT room, count(*) AS number FROM notes", as: Load.self) }
        }
        #expect(error?.code == .coding && error?.message == "Load: anyDone is not set, and the type requires it")
        error = await #expect(throws: StoreError.self) {
            try await store.read { try $0.rows("SELECT 'b' AS text, 'x' AS kind", as: Whole.self) }
        }
        #expect(error?.code == .coding && error?.message.contains("kind") == true, "\(error?.message ?? "")")
        error = await #expect(throws: StoreError.self) {
            try await store.read { try $0.rows("SELECT 'b' AS text, 'list' AS kind, 'x' AS meta", as: Whole.self) }
        }
        #expect(error?.code == .coding && error?.message.hasPrefix("Whole: meta: ") == true, "\(error?.message ?? "")")
        error = await #expect(throws: StoreError.self) {
            try await store.read { try $0.rows("SELECT text FROM notes", as: Int.self) }
        }
        #expect(error?.message == "Int: text: expected Int, found string")
    }
}
