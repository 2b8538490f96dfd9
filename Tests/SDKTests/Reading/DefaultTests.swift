import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Defaults of fields in the schema: records without a value are read as the default, and stay without.
@Suite(.timeLimit(.minutes(5))) struct DefaultTests {
    private static func schema(rank: String = #", "default": 5"#) -> String {
        """
        {"tidemark": 1, "name": "test", "collections": {
          "rooms": {"scope": "self", "members": "people", "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"}}},
          "notes": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"}, "text": "string",
            "done": {"type": "boolean", "default": false}, "kind": {"type": "string", "default": "it's plain"},
            "rank": {"type": "integer", "index": true\(rank)}, "weight": {"type": "double", "default": 1},
            "due": {"type": "timestamp", "default": 2000, "merge": "manual"}}}
        }}
        """
    }

    private struct Task: SyncModel, Equatable {
        static let collection = "notes"
        static let defaults: Fields = ["rank": 9]
        var id = UUID()
        var room: UUID
        var text: String
        var done = false
        var kind: String
        var rank: Int
        var weight: Double
        var due: Date?
    }

    /// The same fields read by hand.
    private struct HandTask: SyncModel {
        static let collection = "notes"
        var id: UUID
        var text: String
        var done: Bool
        var rank: Int?
        var due: Date?

        init(reading record: inout RecordReader) throws {
            id = try record["id"]
            text = try record["text"]
            done = try record["done"]
            rank = try record["rank"]
            due = try record["due"]
        }
    }

    private let store: SyncStore
    private var bench: Bench { Bench(database: store.database) }
    private var tasks: Repository<Task> { store.repository(Task.self) }

    /// Three notes; the second has only its text.
    init() throws {
        store = try .inMemory(
            account: Bench.user, schema: try TestSchema.schema(Self.schema()), environment: .counting())
        let bench = Bench(database: store.database)
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(
            .note(1, seq: 5, ["text": "one", "done": true, "kind": "it", "rank": 4, "weight": 0.5, "due": 1_000]),
            .note(2, seq: 6, ["text": "two"]),
            .note(3, seq: 7, ["text": "three", "done": false, "kind": "x", "rank": 6, "weight": 2, "due": 3_000]))
    }

    private func texts(_ filter: ModelFilter<Task>) async throws -> [String] {
        try await tasks.readAll(where: filter, order: [.by(\.rank)]).map(\.text)
    }

    @Test func `a record without values is read with the schema's defaults, by every way of reading`() async throws {
        let bare = try #require(try await tasks.read(UUID(RecordKey.note(2).id)))
        #expect(bare.done == false && bare.kind == "it's plain" && bare.rank == 5 && bare.weight == 1)
        #expect(bare.due == Date(timeIntervalSince1970: 2))
        let byHand = try await store.repository(HandTask.self).readAll(where: .named(.equals("text", "two")))
        #expect(byHand.map(\.rank) == [5] && byHand.map(\.done) == [false])
        #expect(byHand.first?.due == Date(timeIntervalSince1970: 2))
        let read = try await store.readAndWrite { snapshot, batch in
            batch.update(Task.self, UUID(RecordKey.note(2).id)) { $0.text = "two, by \($0.kind)" }
            return try snapshot.readAll(Task.self, where: \.text == "two, by it's plain").map(\.rank)
        }
        #expect(read.value == [5])
    }

    @Test func `filters, orders and pages use the default`() async throws {
        #expect(try await texts(\.done == false) == ["two", "three"])
        #expect(try await texts(\.kind == "it's plain") == ["two"])
        #expect(try await texts(.hasPrefix(\.kind, "it")) == ["one", "two"])
        #expect(try await texts(.is(\.rank, oneOf: [5, 6])) == ["two", "three"])
        #expect(try await texts(\.weight >= 1) == ["two", "three"])
        #expect(try await texts(\.due == nil).isEmpty)
        #expect(try await texts(\.due != nil && \.rank < 6) == ["one", "two"])
        var last: Task?
        var paged: [String] = []
        repeat {
            last = try await tasks.readAll(where: .all, order: [.by(\.due, .descending)], limit: 1, after: last).first
            paged += last.map { [$0.text] } ?? []
        } while last != nil && paged.count < 5
        #expect(paged == ["three", "two", "one"])
    }

    @Test func `the index finds values that are not stored`() async throws {
        let scope = RecordKey.room(1).scope
        #expect(try await tasks.readAll(where: \.rank == 5, in: scope).map(\.text) == ["two"])
        #expect(try await tasks.readAll(where: \.rank > 4, order: [.by(\.rank)], in: scope).count == 2)
        #expect(try await store.diagnostics().unindexed.isEmpty)
        _ = try await tasks.readAll(where: \.weight == 1, in: scope)
        #expect(try await store.diagnostics().unindexed.map(\.fields) == [["weight"]])
    }

    @Test func `no unwritten value is stored`() async throws {
        let id = UUID(RecordKey.note(2).id)
        try await store.write { $0.update(Task.self, id) { $0.done = false } }
        #expect(try bench.count("tidemark_outbox") == 0)
        try await store.write { $0.update(Task.self, id) { $0.text = "second" } }
        #expect(try bench.fields(.note(2)) == (["text": "second"] as Fields).inRoom(1))
        // The writer saw the absence of a value, at the server too.
        try await store.write { $0.update(Task.self, id) { $0.due = Date(timeIntervalSince1970: 7) } }
        let body = try #require(try bench.string("SELECT body FROM tidemark_outbox ORDER BY n DESC LIMIT 1"))
        #expect(body.contains(#""was":{"due":0}"#), "\(body)")
        try await store.write { $0.update(Task.self, id) { $0.due = nil } }
        #expect(try bench.fields(.note(2)) == (["text": "second"] as Fields).inRoom(1))
        #expect(try await tasks.read(id)?.due == Date(timeIntervalSince1970: 2))
    }

    @Test func `another default applies from the next start, for reading and for the index`() throws {
        let folder = try TemporaryFolder()
        for (rank, expected) in [("", nil), (#", "default": 5"#, 5), (#", "default": 8"#, 8), ("", nil)]
            as [(String, Int?)]
        {
            let bench = try Bench(path: folder.path("a.sqlite"), Self.schema(rank: rank))
            if try bench.row(.note(1)) == nil {
                try bench.join(RecordKey.room(1).scope)
                try bench.apply(.note(1, seq: 5, ["text": "one"]))
            }
            #expect(try bench.fields(.note(1)) == (["text": "one"] as Fields).inRoom(1))
            let table = try bench.database.table("notes")
            let query = try RecordQuery(
                table, where: expected.map { .equals("rank", .integer(Int64($0))) } ?? .equals("rank", .null),
                order: .oldestFirst, limit: nil, in: RecordKey.room(1).scope)
            let (rows, plan) = try bench.database.writer.read { db in
                (
                    try ModelReader<HandTask>(bench.database).models(query, db).map(\.rank),
                    try Row.fetchAll(
                        db, sql: "EXPLAIN QUERY PLAN SELECT extra FROM notes \(query.clause)",
                        arguments: StatementArguments(query.arguments)
                    ).map { "\($0)" }.joined()
                )
            }
            #expect(rows == [expected])
            #expect(plan.contains("tidemark_index(notes.rank) (scope=? AND"), "\(plan)")
            try bench.database.close()
        }
    }

    @Test func `a model that cannot decode the default is named when the store opens`() throws {
        struct Kind: SyncModel {
            enum Word: String, Codable { case plain }
            static let collection = "notes"
            var id = UUID()
            var kind: Word?
        }
        let error = #expect(throws: StoreError.self) { try store.check(Kind.self) }
        #expect(error?.code == .coding)
        #expect(
            error?.message == #"Kind.kind: is Word, which does not read the schema's default "it's plain""#,
            "\(error?.message ?? "")")
        try store.check(Task.self)
    }
}
