import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct SchemaMigrationTests {
    private static func schema(_ notes: String, _ more: String = "") -> String {
        """
        {"tidemark": 1, "collections": {"notes": {"scope": "room", "fields": {
            "room": {"type": "string", "required": true, "merge": "immutable"}\(notes)}}\(more)}}
        """
    }

    private func reopen(_ folder: TemporaryFolder, _ schema: String, user: UserID = Bench.user) throws -> LocalDatabase
    {
        try LocalDatabase.open(
            path: folder.path("a.sqlite"), account: user, schema: try TestSchema.schema(schema),
            newClient: UniqueID(high: 9, low: 9))
    }

    @Test func `a new field takes its values out of extra`() throws {
        let folder = try TemporaryFolder()
        let old = try Bench(path: folder.path("a.sqlite"), Self.schema(""))
        try old.join(ScopeID("lobby"))
        let change = Change(
            key: .note(1), scope: ScopeID("lobby"), seq: 5, born: 5, isDeleted: false, author: UserID("bob"),
            created: 1, updated: 2,
            fields: ["room": "lobby", "color": "red", "list": ["b", "a"], "on": true])
        try old.apply(change)
        #expect(try old.string("SELECT extra FROM notes") == #"{"color":"red","list":["b","a"],"on":true}"#)
        let new = try reopen(folder, Self.schema(#","color": "string", "list": "json", "on": "boolean""#))
        let row = try new.writer.read { try Row.fetchOne($0, sql: "SELECT color, list, \"on\", extra, seq FROM notes") }
        #expect(row == ["color": "red", "list": #"["b","a"]"#, "on": 1, "extra": nil, "seq": 5])
    }

    @Test func `a new collection reopens the scopes that may hold it`() throws {
        let folder = try TemporaryFolder()
        let old = try Bench(path: folder.path("a.sqlite"), Self.schema(""))
        try old.join(ScopeID("lobby"))
        try old.page(ScopeID("lobby"), "notes")
        #expect(try old.database.nextPages(limit: 9).isEmpty)
        let tasks =
            #","tasks": {"scope": "room", "fields": {"room": {"type": "string", "required": true, "merge": "immutable"}}}"#
        let new = try reopen(folder, Self.schema("", tasks))
        #expect(try new.nextPages(limit: 9).map(\.collection) == ["tasks"])
        #expect(try new.writer.read { try $0.tableExists("tasks") })
    }

    @Test func `what is not an addition is refused and names the place`() throws {
        let folder = try TemporaryFolder()
        _ = try reopen(folder, Self.schema(#","color": "string""#))
        for (schema, message) in [
            (Self.schema(#","color": "integer""#), "notes.color: was string, is now integer"),
            (Self.schema(""), "notes.color: the field is gone from the schema"),
        ] {
            let error = #expect(throws: StoreError.self) { try reopen(folder, schema) }
            #expect(error?.code == .schemaChanged)
            #expect(error?.message == message)
        }
    }

    @Test func `names of tables that are not the app's are refused`() throws {
        let schema = #"{"tidemark":1,"collections":{"Tidemark_meta":{"scope":{"shared":"x"},"fields":{}}}}"#
        let error = #expect(throws: StoreError.self) { try Bench(schema) }
        #expect(error?.message == "Tidemark_meta: names that start with tidemark_ are reserved")
    }

    @Test func `another account cannot open the file`() throws {
        let folder = try TemporaryFolder()
        _ = try reopen(folder, Self.schema(""))
        let error = #expect(throws: StoreError.self) { try reopen(folder, Self.schema(""), user: UserID("eve")) }
        #expect(error?.code == .wrongAccount)
    }

    @Test func `a file of a later format is refused`() throws {
        let folder = try TemporaryFolder()
        let database = try reopen(folder, Self.schema(""))
        try database.writer.write { try Meta.format.set(99, $0) }
        let error = #expect(throws: StoreError.self) { try reopen(folder, Self.schema("")) }
        #expect(error?.code == .formatTooNew)
    }
}
