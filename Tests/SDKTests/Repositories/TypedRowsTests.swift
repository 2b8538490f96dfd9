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

    @Test func `sets, structs and enumerations come out of their columns`() async throws {
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
