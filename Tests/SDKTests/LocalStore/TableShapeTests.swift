import Foundation
import GRDB
import Testing
import TidemarkModel

@testable import Tidemark

@Suite struct TableShapeTests {
    @Test func `a collection is a table that a person can read`() throws {
        let bench = try Bench()
        let columns = try bench.database.writer.read { db in
            try db.columns(in: "notes").map { "\($0.name) \($0.type)" }
        }
        #expect(
            columns == [
                "local_id TEXT", "server_id INTEGER", "scope TEXT", "seq INTEGER", "server_time INTEGER",
                "created_time INTEGER", "author TEXT", "state TEXT", "extra TEXT", "best REAL", "body TEXT",
                "done INTEGER", "due INTEGER", "file TEXT", "likes INTEGER", "meta TEXT", "room TEXT", "seen TEXT",
                "tags TEXT", "text TEXT", "weight REAL",
            ])
    }

    @Test func `values are in their columns in SQL's own types`() throws {
        let bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(
            .note(
                1, seq: 7,
                [
                    "text": "hi", "done": true, "due": 1_000, "tags": ["a", "b"], "meta": .object(["k": 1]),
                    "weight": 1.5,
                    "body": [1, "x"],
                ]))
        let line = try bench.string(
            """
            SELECT local_id || ' ' || server_id || ' ' || seq || ' ' || server_time || ' ' || created_time || ' ' || author
                || ' ' || state || ' ' || text || ' ' || done || ' ' || due || ' ' || tags || ' ' || meta || ' ' || weight
                || ' ' || body
            FROM notes
            """)
        let expected = """
            \(RecordKey.note(1).id) 7 7 1007 500 bob synced hi 1 1000 ["a","b"] {"k":1} 1.5 [1,"x"]
            """
        #expect(line == expected)
    }

    @Test func `scope and declared fields are indexed`() throws {
        let bench = try Bench()
        let indexes = try bench.database.writer.read { db in
            try db.indexes(on: "notes").map { "\($0.name) \($0.columns)" }.sorted()
        }
        #expect(indexes.contains("tidemark_index(notes.scope) [\"scope\", \"server_id\", \"author\"]"))
        #expect(indexes.contains("tidemark_index(notes.due) [\"scope\", \"due\"]"))
    }

    @Test func `fields that the schema does not know are kept in extra, whatever their type`() throws {
        let bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(.note(1, seq: 7, ["zebra": .object(["n": 1]), "aardvark": 2, "text": 5]))
        #expect(try bench.string("SELECT extra FROM notes") == #"{"aardvark":2,"text":5,"zebra":{"n":1}}"#)
        try bench.write(1, .set(.note(1), "weight", 2.0))
        let expected: Fields = ["zebra": .object(["n": 1]), "aardvark": 2, "text": 5, "weight": 2.0]
        #expect(try bench.fields(.note(1)) == expected.inRoom(1))
    }

    @Test func `text with a NUL in it is not cut off`() throws {
        let bench = try Bench()
        try bench.write(1, .room(), .note(1, ["text": "a\0b"]))
        #expect(try bench.fields(.note(1))?["text"] == "a\0b")
    }

    @Test func `the schema of the chat example is valid and makes its tables`() throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../ClientSDK/ChatSchema/chat.schema.json").standardizedFileURL
        let schema = try Schema(json: Array(Data(contentsOf: url)))
        let database = try LocalDatabase.inMemory(account: Bench.user, schema: schema, newClient: Bench.client)
        let tables = try database.writer.read { db in
            try ["users", "conversations", "messages"].filter { try db.tableExists($0) }
        }
        #expect(tables.count == 3)
        #expect(schema.collection("messages")?.field("text")?.merge == .immutable)
        #expect(schema.collection("messages")?.field("text")?.isSearchable == true)
        #expect(schema.collection("receipts")?.change == [.author])
        #expect(schema.collection("conversations")?.delete == [.owner])
        #expect(schema.sharedScopes == [ScopeID("directory")])
    }
}
