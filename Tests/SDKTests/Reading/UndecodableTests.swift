import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Records that a model cannot decode are set aside and named, and nothing else suffers.
@Suite(.timeLimit(.minutes(5))) struct UndecodableTests {
    private static let schema = """
        {"tidemark": 1, "name": "test", "collections": {
          "rooms": {"scope": "self", "members": "people", "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"}}},
          "notes": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
            "text": {"type": "string", "search": true}, "kind": "string", "done": "boolean", "meta": "map",
            "likes": {"type": "integer", "merge": "counter"}, "tags": {"type": "set", "merge": "elements"}}}
        }}
        """

    private struct Task: SyncModel, Equatable {
        enum Kind: String, Codable { case plain, urgent }
        struct Meta: Codable, Equatable { var pages: Int }

        static let collection = "notes"
        static let defaults: Fields = ["done": false, "kind": "plain"]
        var id = UUID()
        var room: UUID
        var text: String
        var kind = Kind.plain
        var done = false
        var likes: Int
        var tags: Set<String>
        var meta: Meta?
    }

    /// The same, read by hand.
    private struct HandTask: SyncModel {
        static let collection = "notes"
        static let defaults = Task.defaults
        var task: Task
        var id: UUID { task.id }

        init(reading record: inout RecordReader) throws {
            task = Task(
                id: try record["id"], room: try record["room"], text: try record["text"], kind: try record["kind"],
                done: try record["done"], likes: try record["likes"], tags: try record["tags"],
                meta: try record["meta"])
        }

        init(from decoder: any Decoder) throws { task = try Task(from: decoder) }
        func encode(to encoder: any Encoder) throws { try task.encode(to: encoder) }
    }

    private let store: SyncStore
    private var bench: Bench { Bench(database: store.database) }
    private var tasks: Repository<Task> { store.repository(Task.self) }

    /// Three notes; the second has no text, the third a kind that the model does not know.
    init() throws {
        store = try .inMemory(
            account: Bench.user, schema: try TestSchema.schema(Self.schema), environment: .counting())
        let bench = Bench(database: store.database)
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(
            .note(1, seq: 5, ["text": "tide one"]), .note(2, seq: 6, ["done": true]),
            .note(3, seq: 7, ["text": "tide three", "kind": "secret"]))
    }

    private func id(_ number: UInt64) -> UUID { UUID(RecordKey.note(number).id) }

    @Test func `a count is the length of the list, and follows it`() async throws {
        #expect(try await tasks.count() == 1)
        #expect(try await tasks.count(in: RecordKey.room(1).scope) == 1)
        #expect(try await store.read { try $0.count(Task.self) } == 1)
        #expect(try await tasks.count(where: \.text == "tide three") == 0)
        var counts = tasks.observeCount().makeAsyncIterator()
        #expect(try await counts.next() == 1)
        try bench.apply(from: "c1", to: "c2", .note(2, seq: 9, ["text": "tide two"]))
        #expect(try await counts.next() == 2)
        #expect(try await tasks.readAll().count == 2)
    }

    /// A model that can decode no note.
    private struct Mistyped: SyncModel {
        static let collection = "notes"
        var id = UUID()
        var room: UUID
        var text: Int
    }

    private struct Misspelt: SyncModel {
        static let collection = "notes"
        var id = UUID()
        var room: UUID
        var txet: String
    }

    private struct Open: SyncModel {
        static let collection = "notes"
        static let defaults: Fields = ["later": 5]
        var id = UUID()
        var room: UUID
        var text: UUID?
        var likes: String?
        var unknown: String?
        var later: Int
    }

    @Test func `a list of a model that no record fits gives the reason, also without any record`() async throws {
        let empty = try SyncStore.inMemory(
            account: Bench.user, schema: try TestSchema.schema(Self.schema), environment: .counting())
        for store in [store, empty] {
            let mistyped = await #expect(throws: StoreError.self) {
                try await store.repository(Mistyped.self).readAll()
            }
            #expect(mistyped?.message == "Mistyped.text: is Int, and the field is string")
            let misspelt = await #expect(throws: StoreError.self) {
                try await store.repository(Misspelt.self).readAll()
            }
            #expect(misspelt?.code == .unknownName)
            #expect(misspelt?.message == "Misspelt: reads txet, and notes has no such field in the schema")
            await #expect(throws: StoreError.self) { try await store.repository(Misspelt.self).count() }
            await #expect(throws: StoreError.self) {
                for try await _ in store.repository(Misspelt.self).observe() { break }
            }
            // An optional field excludes no record.
            #expect(try await store.repository(Open.self).readAll().count <= 3)
        }
    }

    @Test func `a list continues without them, and they are named with field and reason`() async throws {
        #expect(try await tasks.readAll().map(\.id) == [id(1)])
        #expect(try await store.read { try $0.readAll(Task.self, "ORDER BY local_id") }.map(\.id) == [id(1)])
        let aside = try await tasks.undecodable()
        #expect(aside.map(\.id) == [id(2), id(3)])
        #expect(aside.map(\.collection) == ["notes", "notes"] && aside.map(\.model) == ["Task", "Task"])
        #expect(aside.map(\.field) == ["text", "kind"] && aside.map(\.problem) == [.missing, .misfit])
        #expect(aside.first?.reason == "text is not set, and the type requires it")
        #expect(aside.last?.reason.contains("secret") == true)
        #expect(try await store.repository(HandTask.self).undecodable().map(\.field) == ["text", "kind"])
    }

    @Test func `a record that is the first to be read does not end the list either`() async throws {
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 8, born: 5, deleted: true), .note(9, seq: 9, ["text": "x"]))
        #expect(try await tasks.readAll().map(\.id) == [id(9)])
        #expect(try await store.repository(HandTask.self).readAll().map(\.id) == [id(9)])
    }

    @Test func `an observed list omits a record that stops decoding, and has it back when it is repaired`() async throws
    {
        var counts: [Int] = []
        for try await page in tasks.observe() {
            counts.append(page.count)
            switch counts.count {
            case 1: try bench.apply(from: "c1", to: "c2", .note(2, seq: 8, born: 6, ["text": "mended"]))
            case 2: try bench.apply(from: "c2", to: "c3", .note(1, seq: 9, born: 5, ["kind": "unheard of"]))
            default: break
            }
            if counts.count == 3 { break }
        }
        #expect(counts == [1, 2, 1])
    }

    @Test func `one observed record is absent while it does not decode`() async throws {
        var texts: [String?] = []
        for try await task in tasks.observe(id: id(2)) {
            texts.append(task?.text)
            if texts.count == 2 { break }
            try bench.apply(from: "c1", to: "c2", .note(2, seq: 8, born: 6, ["text": "mended"]))
        }
        #expect(texts == [nil, "mended"])
    }

    @Test func `a read of the one record throws the reason`() async throws {
        for number in [2, 3] as [UInt64] {
            let error = await #expect(throws: StoreError.self) { try await tasks.read(id(number)) }
            #expect(error?.code == .coding)
        }
        #expect(try await store.read { try $0.read(Task.self, UUID(RecordKey.note(2).id)) } == nil)
    }

    @Test func `a search finds the others`() async throws {
        #expect(try await tasks.search("tide").map(\.model.id) == [id(1)])
        #expect(try await store.read { try $0.search("tide", in: Task.self) }.map(\.model.id) == [id(1)])
        for try await hits in tasks.observeSearch("tide") {
            #expect(hits.map(\.model.id) == [id(1)])
            break
        }
        #expect(try await store.diagnostics().undecodable.map(\.id) == [RecordKey.note(3).id.description])
    }

    @Test func `a refused creation that does not decode hides no other`() async throws {
        try bench.write(1, .note(4, ["text": "mine"]))
        try bench.write(2, .note(5, ["kind": "urgent"]))
        try bench.apply(from: "c1", to: "c2", settled: .outcomes([(1, 1, .quota), (2, 2, .quota)]))
        #expect(try await store.read { try $0.rejectedCreations(Task.self).map { $0.model.text } } == ["mine"])
        #expect(try await store.outbox.rejected().count == 2)
    }

    @Test func `each is reported once, and diagnostics name it until it decodes`() async throws {
        var events = store.events.makeAsyncIterator()
        _ = try await tasks.readAll()
        _ = try await tasks.readAll()
        try bench.apply(from: "c1", to: "c2", .note(8, seq: 8, ["kind": "plain"]))
        _ = try await tasks.readAll()
        var told: [SyncLogEvent?] = []
        for _ in 0..<3 { told.append(await events.next()) }
        let aside: [(UInt64, String)] = [(2, "text"), (3, "kind"), (8, "text")]
        let expected = aside.map { number, field -> SyncLogEvent? in
            .undecodable(collection: "notes", record: id(number), model: "Task", field: field)
        }
        #expect(told == expected)
        #expect(told.allSatisfy { $0?.isAlert == true })
        let state = try await store.diagnostics().undecodable
        #expect(state.map(\.id) == [2, 3, 8].map { RecordKey.note($0).id.description })
        #expect(state.map(\.field) == ["text", "kind", "text"])
        #expect(state.map(\.problem) == [.missing, .misfit, .missing])
        let report = String(decoding: try await store.exportReport(), as: UTF8.self)
        #expect(!report.contains("secret"), "a report holds no values")
        try bench.apply(
            from: "c2", to: "c3", .note(2, seq: 9, born: 6, ["text": "x"]), .note(8, seq: 10, born: 8, deleted: true))
        #expect(try await store.diagnostics().undecodable.map(\.field) == ["kind"])
    }

    @Test func `diagnostics keep as many as the limit says`() throws {
        let found = UndecodableRecords(max: 1)
        let missing = DecodingError.keyNotFound(FieldName("text"), .init(codingPath: [], debugDescription: ""))
        found.note([1, 2].map { UndecodableRecord(.note($0), as: Task.self, missing) }, of: Task.self)
        #expect(try bench.database.writer.read { try found.current(bench.database, $0) }.isEmpty, "the first decodes")
        found.note([2, 3].map { UndecodableRecord(.note($0), as: Task.self, missing) }, of: Task.self)
        #expect(try bench.database.writer.read { try found.current(bench.database, $0) }.map(\.id) == [id(2)])
    }

    // MARK: Defaults

    @Test func `a missing field is read as the model's default, by every way`() async throws {
        let expected = Task(
            id: id(1), room: UUID(RecordKey.room(1).id), text: "tide one", kind: .plain, done: false, likes: 0,
            tags: [],
            meta: nil)
        // The second read has a plan.
        for _ in 0..<2 {
            #expect(try await tasks.read(id(1)) == expected)
            #expect(try await store.repository(HandTask.self).read(id(1))?.task == expected)
        }
        #expect(try await tasks.search("one").map(\.model) == [expected])
        try await tasks.update(id(1)) { task in
            #expect(task == expected)
            task.done = true
            task.likes += 2
        }
        #expect(
            try bench.fields(.note(1))
                == Fields(dictionaryLiteral: ("text", "tide one"), ("done", true), ("likes", 2)).inRoom(1))
        #expect(try await tasks.read(id(1))?.done == true)
    }

    @Test func `a set value has priority over the default, and an optional has none`() async throws {
        struct Loose: SyncModel {
            static let collection = "notes"
            static let defaults: Fields = ["done": true, "text": "nothing"]
            var id = UUID()
            var text: String?
            var done: Bool
            var tags: Set<String>?
        }
        let loose = try await store.repository(Loose.self).readAll()
        #expect(loose.map(\.done) == [true, true, true])
        #expect(loose.map(\.text) == ["tide one", nil, "tide three"])
        #expect(loose.map(\.tags) == [nil, nil, nil])
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 8, born: 5, ["text": "a", "done": false, "tags": ["x"]]))
        let set = try #require(try await store.repository(Loose.self).read(id(1)))
        #expect(!set.done && set.tags == ["x"])
    }

    @Test func `a default that does not fit is an error of the record`() async throws {
        struct Wrong: SyncModel {
            static let collection = "notes"
            static let defaults: Fields = ["done": "no"]
            var id = UUID()
            var done: Bool
        }
        #expect(try await store.repository(Wrong.self).readAll().map(\.id) == [id(2)])
        #expect(try await store.repository(Wrong.self).undecodable().map(\.problem) == [.misfit, .misfit])
    }
}
