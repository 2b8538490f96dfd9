import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

@Suite struct QueryTests {
    private let room = UUID()

    private func store() async throws -> SyncStore {
        let store = try SyncStore.test()
        try await store.write { t in
            for number in 1...5 {
                t.create(
                    Note(
                        room: room, text: "n\(number)", likes: number, tags: number.isMultiple(of: 2) ? ["even"] : nil,
                        done: number > 3 ? true : nil, due: Date(timeIntervalSince1970: Double(number))))
            }
            t.create(Note(room: UUID(), text: "elsewhere"))
        }
        return store
    }

    private func texts(
        _ store: SyncStore, _ filter: Filter?, _ order: RecordOrder = .ascending("text"), limit: Int? = nil,
        in scope: ScopeID? = nil
    ) async throws -> [String] {
        try await store.repository(Note.self)
            .readAll(
                where: filter.map { .named($0) } ?? .all, order: [.named(order)], limit: limit, in: scope
            )
            .compactMap(\.text)
    }

    @Test func `filters compare, combine and search sets`() async throws {
        let store = try await store()
        #expect(try await texts(store, .equals("text", "n2")) == ["n2"])
        #expect(try await texts(store, .less("likes", 2)) == ["n1"])
        #expect(try await texts(store, .atMost("likes", 2)) == ["n1", "n2"])
        #expect(try await texts(store, .greater("likes", 4)) == ["n5"])
        #expect(try await texts(store, .atLeast("due", .date(Date(timeIntervalSince1970: 4)))) == ["n4", "n5"])
        #expect(try await texts(store, .contains("tags", "even")) == ["n2", "n4"])
        #expect(try await texts(store, .contains("tags", "even").and(.equals("done", true))) == ["n4"])
        #expect(try await texts(store, .equals("text", "n1").or(.equals("text", "n3"))) == ["n1", "n3"])
        #expect(try await texts(store, .equals("done", .null)) == ["elsewhere", "n1", "n2", "n3"])
        #expect(try await texts(store, .differs("done", .null)) == ["n4", "n5"])
        #expect(try await texts(store, .differs("done", true)) == ["elsewhere", "n1", "n2", "n3"])
        #expect(try await texts(store, .equals("done", true).negated) == ["elsewhere", "n1", "n2", "n3"])
        #expect(try await texts(store, .equals("room", .id(room)).and(.less("likes", 2))) == ["n1"])
        #expect(try await texts(store, .equals("syncState", "pending")).count == 6)
        #expect(try await texts(store, .equals("author", "eve")).isEmpty)
    }

    @Test func `lists are ordered, limited and confined to a scope`() async throws {
        let store = try await store()
        #expect(try await texts(store, nil, .descending("due"), limit: 2, in: .of(room)) == ["n5", "n4"])
        #expect(try await texts(store, nil, .oldestFirst) == ["n1", "n2", "n3", "n4", "n5", "elsewhere"])
        #expect(try await texts(store, nil, .newestFirst, limit: 1) == ["elsewhere"])
    }

    @Test func `records that the server has not seen follow those that it has`() async throws {
        let bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        try bench.write(1, .note(1, ["text": "mine"]))
        try bench.apply(.note(3, seq: 9, ["text": "second"]), .note(2, seq: 8, ["text": "first"]))
        let store = SyncStore(database: bench.database, environment: .counting())
        #expect(try await texts(store, nil, .oldestFirst) == ["first", "second", "mine"])
        #expect(try await texts(store, nil, .newestFirst) == ["mine", "second", "first"])
    }

    @Test func `names and types are checked against the schema`() async throws {
        let store = try await store()
        let cases: [(Filter, StoreError.Code, String)] = [
            (.equals("txt", "x"), .unknownName, "notes.txt: no such field in the schema"),
            (.equals("text\" OR 1=1 --", "x"), .unknownName, "notes.text\" OR 1=1 --: no such field in the schema"),
            (.equals("likes", "x"), .coding, "notes.likes: must be integer, not string"),
            (.contains("text", "x"), .coding, "notes.text: is not a set"),
        ]
        for (filter, code, message) in cases {
            let error = await #expect(throws: StoreError.self) { try await texts(store, filter) }
            #expect(error?.code == code)
            #expect(error?.message == message)
        }
        let error = await #expect(throws: StoreError.self) { try await texts(store, nil, .ascending("nope")) }
        #expect(error?.code == .unknownName)
    }

    @Test func `a value is never SQL`() async throws {
        let store = try await store()
        #expect(try await texts(store, .equals("text", "' OR '1'='1")).isEmpty)
        #expect(try await texts(store, .contains("tags", "even') OR 1=1 --")).isEmpty)
    }
}
