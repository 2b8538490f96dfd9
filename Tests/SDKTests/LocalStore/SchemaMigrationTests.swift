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

    @Test func `a new field takes its values from extra`() throws {
        let folder = try TemporaryFolder()
        let old = try Bench(path: folder.path("a.sqlite"), Self.schema(""))
        try old.join(ScopeID("lobby"))
        let change = Change(
            key: .note(1), scope: ScopeID("lobby"), seq: 5, born: 5, isDeleted: false, author: UserID("bob"),
            created: 1, updated: 2,
            fields: ["room": "lobby", "color": "red", "list": ["b", "a"], "on": true])
        try old.apply(change)
        #expect(try old.string("SELECT extra FROM notes") == #"{"color":"red","list":["b","a"],"on":true}"#)
        try old.database.close()
        let new = try reopen(folder, Self.schema(#","color": "string", "list": "json", "on": "boolean""#))
        let row = try new.writer.read { try Row.fetchOne($0, sql: "SELECT color, list, \"on\", extra, seq FROM notes") }
        #expect(row == ["color": "red", "list": #"["b","a"]"#, "on": 1, "extra": nil, "seq": 5])
    }

    /// A note as a server sends it that knows more fields than this version of the app.
    private func note(_ fields: Fields) -> Change {
        var fields = fields
        fields["room"] = "lobby"
        return Change(
            key: .note(1), scope: ScopeID("lobby"), seq: 5, born: 5, isDeleted: false, author: UserID("bob"),
            created: 1, updated: 2, fields: fields)
    }

    @Test func `fields that no version knows survive every change of the tables`() throws {
        let folder = try TemporaryFolder()
        let unknown: Fields = [
            "color": "red", "deep": .object(["a": .array([1, .null, .double(1.5)])]), "size": .double(2), "zoom": -3,
        ]
        let tasks =
            #","tasks": {"scope": "room", "fields": {"room": {"type": "string", "required": true, "merge": "immutable"}}}"#
        let versions = [
            // One more field with one of the values, another name for it, none at all, one more collection, all of
            // them.
            (#","color": "string""#, "", "color"), (#","tone": {"type": "string", "was": "color"}"#, "", "tone"),
            ("", "", "tone"), (#","title": "string""#, tasks, "tone"),
            (#","tone": "string","deep": "json", "size": "double", "zoom": "integer", "title": "string""#, "", "tone"),
        ]
        let first = try Bench(path: folder.path("a.sqlite"), Self.schema(""))
        try first.join(ScopeID("lobby"))
        try first.apply(note(unknown))
        try first.database.close()
        for (fields, more, name) in versions {
            let bench = try Bench(path: folder.path("a.sqlite"), Self.schema(fields, more))
            var expected: Fields = ["room": "lobby", "deep": unknown["deep"] ?? .null, "size": .double(2), "zoom": -3]
            expected[name] = "red"
            #expect(try bench.fields(.note(1)) == expected, "\(fields)")
            try bench.database.close()
        }
        let last = try Bench(path: folder.path("a.sqlite"), Self.schema(versions[4].0))
        #expect(try last.string("SELECT tone || zoom || size FROM notes WHERE extra IS NULL") == "red-32.0")
    }

    @Test func `fields that no version knows stay under a pending write and with the rest of the record`() throws {
        let folder = try TemporaryFolder()
        let old = try Bench(path: folder.path("a.sqlite"), Self.schema(#","text": "string""#))
        try old.join(ScopeID("lobby"))
        try old.apply(note(["text": "a", "color": "red", "zoom": 3]))
        try old.write(1, .set(.note(1), "text", "mine"))
        try old.database.close()
        let new = try Bench(path: folder.path("a.sqlite"), Self.schema(#","text": "string", "color": "string""#))
        #expect(try new.fields(.note(1)) == ["room": "lobby", "text": "mine", "color": "red", "zoom": 3])
        #expect(try new.string("SELECT extra FROM notes") == #"{"zoom":3}"#)
        try new.write(2, .set(.note(1), "color", "blue"))
        try new.apply(from: "c1", to: "c2", settled: .outcomes([(1, 1, .invalid), (2, 2, .invalid)]))
        #expect(try new.fields(.note(1)) == ["room": "lobby", "text": "a", "color": "red", "zoom": 3])
        #expect(try new.string("SELECT color || extra FROM notes") == #"red{"zoom":3}"#)
    }

    @Test func `a value that arrived under a field's first name is found under its new one`() throws {
        let folder = try TemporaryFolder()
        let old = try Bench(path: folder.path("a.sqlite"), Self.schema(""))
        try old.join(ScopeID("lobby"))
        try old.apply(note(["color": "red", "zoom": 3]))
        try old.database.close()
        let new = try Bench(path: folder.path("a.sqlite"), Self.schema(#","tone": {"type": "string", "was": "color"}"#))
        #expect(try new.fields(.note(1)) == ["room": "lobby", "tone": "red", "zoom": 3])
        #expect(try new.string("SELECT tone || extra FROM notes") == #"red{"zoom":3}"#)
    }

    @Test func `a new collection reopens the scopes that may hold it`() throws {
        let folder = try TemporaryFolder()
        let old = try Bench(path: folder.path("a.sqlite"), Self.schema(""))
        try old.join(ScopeID("lobby"))
        try old.page(ScopeID("lobby"), "notes")
        #expect(try old.database.nextPages(limit: 9).isEmpty)
        let tasks =
            #","tasks": {"scope": "room", "fields": {"room": {"type": "string", "required": true, "merge": "immutable"}}}"#
        try old.database.close()
        let new = try reopen(folder, Self.schema("", tasks))
        #expect(try new.nextPages(limit: 9).map(\.collection) == ["tasks"])
        #expect(try new.writer.read { try $0.tableExists("tasks") })
    }

    @Test func `a change that is no addition is refused and names the field`() throws {
        let folder = try TemporaryFolder()
        _ = try reopen(folder, Self.schema(#","color": "string""#))
        for (schema, message) in [
            (Self.schema(#","color": "integer""#), "notes.color: was string, is now integer"),
            (Self.schema(#","tone": {"type": "integer", "was": "color"}"#), "notes.color: was string, is now integer"),
        ] {
            let error = #expect(throws: StoreError.self) { try reopen(folder, schema) }
            #expect(error?.code == .schemaChanged)
            #expect(error?.message == message)
        }
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
        try database.writer.write { try Meta.format.set(LocalTables.format + 1, $0) }
        try database.close()
        let error = #expect(throws: StoreError.self) { try reopen(folder, Self.schema("")) }
        #expect(error?.code == .formatTooNew)
    }

    @Test func `a file of a version before the first release is refused with what to do`() throws {
        let folder = try TemporaryFolder()
        let database = try reopen(folder, Self.schema(""))
        try database.writer.write { try Meta.format.set(LocalTables.first - 1, $0) }
        try database.close()
        let error = #expect(throws: StoreError.self) { try reopen(folder, Self.schema("")) }
        #expect(error?.code == .formatTooOld && error?.message.contains("delete the file") == true)
    }

    @Test func `a later format is reached step by step, keeps the rows, and is refused by the version before`() throws {
        let folder = try TemporaryFolder()
        let database = try reopen(folder, Self.schema(""))
        let steps =
            LocalTables.steps + [
                "ALTER TABLE tidemark_receipt ADD COLUMN shown INTEGER NOT NULL DEFAULT 0",
                "UPDATE tidemark_receipt SET shown = 7; ALTER TABLE tidemark_receipt RENAME COLUMN shown TO seen",
            ]
        func bring(through count: Int) throws {
            try database.writer.write {
                try LocalTables.bring($0, steps: Array(steps.prefix(LocalTables.steps.count + count)))
            }
        }
        try database.writer.write {
            try $0.execute(sql: "INSERT INTO tidemark_receipt (id, state) VALUES ('a', 'queued')")
        }
        for count in [1, 2, 2] { try bring(through: count) }
        let (seen, format) = try database.writer.read {
            (try Int.fetchOne($0, sql: "SELECT seen FROM tidemark_receipt"), try Meta.format.integer($0))
        }
        #expect(seen == 7 && format == LocalTables.format + 2)
        // A new file has all of them at once.
        let new = try DatabaseQueue()
        try new.write { try LocalTables.bring($0, steps: steps) }
        let columns = try new.read { try $0.columns(in: "tidemark_receipt").map(\.name) }
        #expect(columns.last == "seen")
        try database.close()
        let error = #expect(throws: StoreError.self) { try reopen(folder, Self.schema("")) }
        #expect(error?.code == .formatTooNew)
    }

    @Test func `a removed field keeps its values aside, and has them again when it returns`() throws {
        let folder = try TemporaryFolder()
        let full = Self.schema(
            #","color": {"type": "string", "index": true, "search": true}, "on": "boolean", "list": {"type": "set", "merge": "elements"}, "size": "double""#
        )
        let fields: Fields = ["room": "lobby", "color": "red", "on": false, "list": ["a", "b"], "size": .double(3)]
        let old = try Bench(path: folder.path("a.sqlite"), full)
        try old.join(ScopeID("lobby"))
        try old.apply(
            Change(
                key: .note(1), scope: ScopeID("lobby"), seq: 5, born: 5, isDeleted: false, author: UserID("bob"),
                created: 1, updated: 2, fields: fields))
        try old.database.close()
        let without = try Bench(path: folder.path("a.sqlite"), Self.schema(""))
        #expect(try without.fields(.note(1)) == fields)
        #expect(
            try without.database.writer.read { try $0.columns(in: "notes").contains { $0.name == "color" } } == false)
        try without.database.close()
        let again = try Bench(path: folder.path("a.sqlite"), full)
        #expect(try again.fields(.note(1)) == fields)
        #expect(try again.string("SELECT color FROM notes WHERE seq = 5") == "red")
    }

    @Test func `a renamed field keeps its values, also those that wait to be sent`() throws {
        let folder = try TemporaryFolder()
        let lobby = ScopeID("lobby")
        let old = try Bench(path: folder.path("a.sqlite"), Self.schema(#","color": "string""#))
        func change(_ number: UInt64, _ seq: Int64, _ fields: Fields) -> Change {
            var fields = fields
            fields["room"] = "lobby"
            return Change(
                key: .note(number), scope: lobby, seq: seq, born: seq, isDeleted: false, author: UserID("bob"),
                created: 1, updated: 2, fields: fields)
        }
        try old.join(lobby)
        try old.apply(change(1, 5, ["color": "red"]), change(2, 6, ["color": "green"]))
        try old.write(1, .set(.note(2), "color", "mine"))
        try old.database.close()
        let new = try Bench(path: folder.path("a.sqlite"), Self.schema(#","tone": {"type": "string", "was": "color"}"#))
        #expect(try new.fields(.note(1))?["tone"] == "red")
        #expect(try new.fields(.note(2))?["tone"] == "mine")
        let sent = try new.database.nextPush(after: 0, maxTransactions: 1, maxBytes: 9_999)
        #expect(try new.string("SELECT body FROM tidemark_outbox")?.contains("tone") == true && sent.count == 1)
        // Rows that were not written since arrive with the old name, and others with the new one.
        try new.apply(
            from: "c1", to: "c2", change(3, 9, ["color": "blue"]), change(4, 10, ["tone": "x", "color": "y"]))
        #expect(try new.fields(.note(3)) == ["room": "lobby", "tone": "blue"])
        #expect(try new.fields(.note(4)) == ["room": "lobby", "tone": "x"])
    }

    @Test func `kept entries use the new name as well, and the journal's bytes are counted again`() throws {
        let folder = try TemporaryFolder()
        let old = try Bench(path: folder.path("a.sqlite"), Self.schema(#","color": "string""#))
        try old.join(ScopeID("lobby"))
        try old.apply(note(["color": "red"]))
        try old.write(1, .set(.note(1), "color", "mine"))
        try old.apply(from: "c1", to: "c2", settled: .outcomes([(1, 1, nil)]))
        try old.database.change { db in
            let id = RecordKey.note(1).id.description
            try db.run(
                """
                INSERT INTO tidemark_history (collection, local_id, seq, field, scope, rule, time)
                VALUES ('notes', ?, 6, 'color', 'lobby', 'last', 1)
                """, [id])
            try db.run(
                """
                INSERT INTO tidemark_rescue (collection, local_id, scope, number, author, body, rescued)
                VALUES ('notes', ?, 'lobby', 6, 'bob', '{"color":"red"}', 1)
                """, [id])
        }
        try old.database.close()
        let new = try Bench(
            path: folder.path("a.sqlite"), Self.schema(#","complexion": {"type": "string", "was": "color"}"#))
        #expect(try new.string("SELECT field FROM tidemark_history") == "complexion")
        #expect(try new.string("SELECT body FROM tidemark_rescue") == #"{"complexion":"red"}"#)
        #expect(try new.string("SELECT body FROM tidemark_outbox")?.contains("complexion") == true)
        let (said, there) = try new.database.writer.read { db in
            try (
                Meta.journalBytes.integer(db),
                db.first("SELECT length(CAST(body AS BLOB)) FROM tidemark_outbox")?.integer(0)
            )
        }
        #expect(said == there && said != nil)
    }

    @Test func `a field that is renamed again keeps its values from whichever version was before`() throws {
        for before in ["color", "tone"] {
            let folder = try TemporaryFolder()
            let was = before == "color" ? "" : #", "was": "color""#
            let old = try Bench(
                path: folder.path("a.sqlite"), Self.schema(#","\#(before)": {"type": "string"\#(was)}"#))
            let lobby = ScopeID("lobby")
            try old.join(lobby)
            let change = Change(
                key: .note(1), scope: lobby, seq: 5, born: 5, isDeleted: false, author: UserID("bob"), created: 1,
                updated: 2, fields: ["room": "lobby", "color": "red"])
            try old.apply(change)
            try old.database.close()
            let new = try Bench(
                path: folder.path("a.sqlite"), Self.schema(#","shade": {"type": "string", "was": ["color", "tone"]}"#))
            #expect(try new.fields(.note(1)) == ["room": "lobby", "shade": "red"])
        }
    }

    @Test func `a renamed collection keeps everything, and the server gets the first name`() throws {
        let folder = try TemporaryFolder()
        let (lobby, fields) = (ScopeID("lobby"), #","color": {"type": "string", "index": true, "search": true}"#)
        func named(_ name: String) -> String {
            Self.schema(fields).replacing(#""notes": {"#, with: #""\#(name)": {"was": "notes", "#)
        }
        func note(_ number: UInt64, _ seq: Int64, _ color: String) -> Change {
            Change(
                key: .note(number), scope: lobby, seq: seq, born: seq, isDeleted: false, author: UserID("bob"),
                created: 1, updated: 2, fields: ["room": "lobby", "color": .string(color)])
        }
        func key(_ number: UInt64, _ name: String) -> RecordKey {
            RecordKey(collection: name, id: RecordKey.note(number).id)
        }
        let first = try Bench(path: folder.path("a.sqlite"), Self.schema(fields))
        try first.join(lobby)
        try first.page(lobby, "notes", note(1, 5, "red"), next: 5)
        try first.write(1, .set(.note(1), "color", "blue"))
        try first.database.close()
        // Another name, one more after that, one that differs by case alone, and the first again.
        for name in ["memos", "cards", "Cards"] {
            let renamed = try Bench(path: folder.path("a.sqlite"), named(name))
            #expect(try renamed.fields(key(1, name))?["color"] == "blue")
            let found = #"SELECT rowid FROM "tidemark_search(\#(name))" WHERE "tidemark_search(\#(name))" MATCH 'blue'"#
            #expect(
                try renamed.string("SELECT local_id FROM \(name) WHERE rowid IN (\(found))")
                    == RecordKey.note(1).id.description)
            #expect(try renamed.database.nextPages(limit: 9).map(\.collection) == ["notes"])
            #expect(try renamed.database.nextPages(limit: 9).map(\.before) == [5])
            let push = try renamed.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
            #expect(try push.map { try $0.entry.content.get().mutations.map(\.key) } == [[.note(1)]])
            #expect(try renamed.database.historyRequest(key(1, name))?.key == .note(1))
            try renamed.database.close()
        }
        let last = try Bench(path: folder.path("a.sqlite"), named("Cards"))
        try last.apply(note(2, 7, "green"), settled: .accepted(1, 1))
        try last.page(lobby, "notes", note(3, 3, "grey"))
        #expect(try [2, 3].map { try last.fields(key($0, "Cards"))?["color"] } == ["green", "grey"])
        try last.database.close()
        let again = try Bench(path: folder.path("a.sqlite"), Self.schema(fields))
        #expect(try again.count("notes") == 3)
        #expect(try again.database.nextPages(limit: 9).isEmpty)
    }

    @Test func `a removed collection leaves its records to the server and its writes in the outbox`() throws {
        let folder = try TemporaryFolder()
        let tasks =
            #","tasks": {"scope": "room", "fields": {"room": {"type": "string", "required": true, "merge": "immutable"}}}"#
        let old = try Bench(path: folder.path("a.sqlite"), Self.schema("", tasks))
        try old.join(ScopeID("lobby"))
        try old.page(ScopeID("lobby"), "notes")
        try old.page(ScopeID("lobby"), "tasks")
        try old.write(1, .create(RecordKey(collection: "tasks", id: UniqueID(high: 1, low: 1)), ["room": "lobby"]))
        try old.database.close()
        let without = try Bench(path: folder.path("a.sqlite"), Self.schema(""))
        #expect(try without.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 999).count == 1)
        try without.database.close()
        let again = try Bench(path: folder.path("a.sqlite"), Self.schema("", tasks))
        #expect(try again.database.nextPages(limit: 9).map(\.collection) == ["tasks"])
    }
}
