import GRDB
import GRDBSQLite
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Names of collections and fields that mean something to SQLite, FTS5, the SDK's own statements or Swift. The schema's
/// reader refuses each with a reason, or it works like any other name.
@Suite(.timeLimit(.minutes(5))) struct NameTests {
    private static let keywords: [String] = (0..<sqlite3_keyword_count()).compactMap { index in
        var (name, length): (UnsafePointer<CChar>?, CInt) = (nil, 0)
        guard sqlite3_keyword_name(index, &name, &length) == SQLITE_OK, let name else { return nil }
        return String(cString: name).prefix(Int(length)).lowercased()
    }

    private static let names =
        [
            // Hidden columns, and names of tables or constants.
            "rowid", "ROWID", "oid", "rank", "Rank", "true", "FALSE", "excluded", "new", "old", "main", "temp",
            "sequence",
            // Columns of table-valued functions, and these functions.
            "key", "value", "type", "atom", "json", "root", "path", "parent", "fullkey", "json_each", "JSON_TREE",
            "pragma_table_info", "dbstat", "sqlite_master", "sqlite_stat1", "tidemark_meta", "Tidemark_X",
            // Shadow tables of a searched collection, triggers and indexes of one, named as several versions do.
            "messages", "messages_data", "messages_idx", "messages_content", "messages_docsize", "messages_config",
            "messages_insert", "messages_update", "messages_delete", "messages_scope", "search_messages", "text",
            "search_messages_config", "by_messages", "messages_by_text", "messages_by", "place", "hit", "f0", "words",
            "tidemark_search_messages", "tidemark_search", "tidemark_hit", "tidemark_rank",
            // The SDK's tables and indexes without their prefix, and words of its statements.
            "meta", "field", "collection", "indexed", "outbox", "outbox_record", "base", "receipt", "parked",
            "scope_page",
            "tombstone", "Tombstone", "history", "conflict", "blob", "deletion", "renaming", "through", "found", "b",
            "r", "o",
            "each", "body", "remaining", "is_complete",
            // Names of Swift, JavaScript and JSON.
            "self", "init", "Type", "constructor", "toString", "hasOwnProperty", "serverTime", "syncState",
            "createdTime",
        ] + keywords

    private static let room = RecordKey(collection: "rooms_of_people", id: UniqueID(high: 0xaa, low: 1))

    private static func schema(_ collections: [String]) -> String {
        """
        {"tidemark": 1, "collections": {
          "rooms_of_people": {"scope": "self", "members": "people", "fields": {"people": {"type": "set", "required": true}}},
          \(collections.joined(separator: ",\n  "))}}
        """
    }

    private static func collection(_ name: String, _ fields: String) -> String {
        """
        "\(name)": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable"}, \(fields)}}
        """
    }

    /// The reason why the reader refuses a schema, if it does.
    private static func refusal(_ schema: String) -> String? {
        do {
            _ = try Schema(json: Array(schema.utf8))
            return nil
        } catch {
            return error.reason
        }
    }

    /// Writes, lists, counts, finds, changes, receives and deletes records.
    private func use(
        _ bench: Bench, _ collection: String, text: String = "words_of_it", set: String = "tags_of_it"
    ) async throws {
        let database = bench.database
        func key(_ number: UInt64) -> RecordKey {
            RecordKey(collection: collection, id: UniqueID(high: 0xbb, low: number))
        }
        func fields(_ text: String, _ set: String, _ word: String, _ tag: String) -> Fields {
            var fields: Fields = ["room": .string(Self.room.id.description)]
            fields[text] = .string(word)
            fields[set] = .array([.string(tag)])
            return fields
        }
        func found(_ word: String, _ order: SearchKey) async throws -> [UniqueID] {
            let query = try SearchQuery(
                try database.table(collection), SearchTerms(word), where: .contains(set, "red"), order: order,
                limit: 9,
                in: Self.room.scope)
            return try await database.readIndexed { db in try query.fetch(db).map(\.row.record.key.id) }
        }
        func listed(_ filter: Filter, _ order: RecordOrder = .newestFirst) async throws -> [UniqueID] {
            let table = try database.table(collection)
            let query = try RecordQuery(table, where: filter, order: order, limit: 9, in: Self.room.scope)
            return try await database.writer.read { db in
                let sql = "SELECT local_id FROM \(table.quotedName) \(query.clause)"
                return try db.all(sql, StatementArguments(query.arguments)).map { try $0.id(0) }
            }
        }
        try database.write(
            Transaction(
                id: database.nextTransaction,
                mutations: [
                    .create(key(1), fields(text, set, "alpha one", "red")),
                    .create(key(2), fields(text, set, "beta two", "blue")),
                ], clientTime: 1))
        #expect(try await found("alp", .relevance) == [key(1).id])
        #expect(try await found("alp", .newestFirst) == [key(1).id])
        #expect(try await found("bet", .newestFirst) == [])
        #expect(try await listed(.contains(set, "blue")) == [key(2).id])
        #expect(try await listed(.equals(text, "alpha one"), .ascending(text)) == [key(1).id])
        #expect(try await listed(.differs(text, "alpha one")) == [key(2).id])
        // A row of the server's, its next state, and an earlier one.
        func row(_ number: UInt64, _ seq: SequenceNumber, _ word: String) -> Change {
            Change(
                key: key(number), scope: Self.room.scope, seq: seq, born: 1, isDeleted: false, author: UserID("bob"),
                created: 1, updated: 1, fields: fields(text, set, word, "red"))
        }
        let cursor = try bench.string("SELECT value FROM tidemark_meta WHERE key = 'cursor'") ?? "c0"
        try bench.apply(from: cursor, to: "\(cursor)1", row(3, 5, "gamma three"))
        try bench.apply(from: "\(cursor)1", to: "\(cursor)2", row(3, 7, "delta three"))
        try bench.apply(from: "\(cursor)2", to: "\(cursor)3", row(3, 6, "gamma again"))
        #expect(try await found("gamma", .relevance) == [])
        #expect(try await found("delta", .relevance) == [key(3).id])
        #expect(try bench.fields(key(3))?[text] == "delta three")
        try database.write(
            Transaction(
                id: database.nextTransaction,
                mutations: [.set(key(1), text, "epsilon one"), .delete(key(2))], clientTime: 2))
        #expect(try await found("alpha", .newestFirst) == [])
        #expect(try await found("eps", .relevance) == [key(1).id])
        #expect(try await listed(.contains(set, "blue")) == [])
    }

    private func bench(_ schema: String) throws -> Bench {
        let bench = try Bench(schema)
        try bench.join(Self.room.scope)
        return bench
    }

    @Test(arguments: names)
    func `a name is refused with a reason, or works like any other field`(name: String) async throws {
        for fields in [
            #""\#(name)": {"type": "string", "search": true, "index": true}, "tags_of_it": "set""#,
            #""\#(name)": "set", "words_of_it": {"type": "string", "search": true, "index": true}"#,
            #""\#(name)": "string", "words_of_it": {"type": "string", "search": true, "index": true}, "tags_of_it": "set""#,
        ] {
            let schema = Self.schema([Self.collection("notes_of_it", fields)])
            if let reason = Self.refusal(schema) {
                #expect(!reason.isEmpty)
                continue
            }
            let isText = fields.hasPrefix(#""\#(name)": {"#)
            let isSet = fields.hasPrefix(#""\#(name)": "set""#)
            try await use(
                try bench(schema), "notes_of_it", text: isText ? name : "words_of_it", set: isSet ? name : "tags_of_it")
        }
    }

    @Test(arguments: names) func `a name is refused with a reason, or works like any other collection`(
        name: String
    ) async throws {
        let fields = #""words_of_it": {"type": "string", "search": true, "index": true}, "tags_of_it": "set""#
        let schema = Self.schema([Self.collection(name, fields)])
        if let reason = Self.refusal(schema) { return #expect(!reason.isEmpty) }
        try await use(try bench(schema), name)
    }

    @Test func `all names that are not refused work together, in a file that is opened again`() async throws {
        let fields = #""words_of_it": {"type": "string", "search": true, "index": true}, "tags_of_it": "set""#
        var seen: Set<String> = []
        let good = Self.names.filter { name in
            Self.refusal(Self.schema([Self.collection(name, fields)])) == nil && seen.insert(name.lowercased()).inserted
        }
        let own = good.filter { name in
            Self.refusal(Self.schema([Self.collection("notes_of_it", #""\#(name)": "string""#)])) == nil
        }
        // Each is searched and indexed, in a collection whose name another's index or shadow table could have.
        let wide = own.filter { !["room", "words_of_it", "tags_of_it"].contains($0) }.prefix(200)
            .map { #""\#($0)": {"type": "string", "search": true, "index": true}"# }.joined(separator: ", ")
        let collections = good.prefix(254).map { Self.collection($0, fields) }
        let schema = Self.schema(collections + [Self.collection("notes_of_it", "\(fields), \(wide)")])
        #expect(good.count > 150 && own.count > 150)
        let folder = try TemporaryFolder()
        for round in 1...2 {
            let bench = try Bench(path: folder.path("x.sqlite"), schema)
            if round == 1 { try bench.join(Self.room.scope) }
            let used = ["messages", "messages_config", "tombstone", "b", "notes_of_it"]
            for name in round == 1 ? used : ["messages_data"] { try await use(bench, name) }
            let indexes = try await bench.database.writer.read { db in
                Set(try db.indexes(on: "tombstone").map(\.columns))
            }
            #expect(indexes.isSuperset(of: [["scope", "server_id", "author"], ["scope", "words_of_it"]]))
            try bench.database.close()
        }
    }

    @Test(arguments: ["rowid", "rank", "oid", "value"])
    func `a file with a field of such a name is intact when it is opened again`(name: String) async throws {
        let folder = try TemporaryFolder()
        let text = Self.schema([
            Self.collection(
                "notes_of_it",
                #""\#(name)": "string", "words_of_it": {"type": "string", "search": true}, "tags_of_it": "set""#)
        ])
        let schema = try Schema(json: Array(text.utf8))
        let environment = StoreEnvironment.system
        for round in 1...3 {
            let (database, notice) = try DatabaseOpening(
                file: folder.path("x.sqlite"), account: Bench.user, schema: schema, environment: environment
            ).open()
            #expect(notice == nil)
            let bench = Bench(database: database)
            if round == 1 { try bench.join(Self.room.scope) }
            for number in 1...20 as ClosedRange<UInt64> {
                var fields: Fields = [
                    "room": .string(Self.room.id.description), "words_of_it": .string("word \(number)"),
                ]
                fields[name] = .string("\(100 - number)")
                let key = RecordKey(collection: "notes_of_it", id: UniqueID(high: UInt64(round), low: number))
                try database.write(
                    Transaction(id: database.nextTransaction, mutations: [.create(key, fields)], clientTime: 1))
                if number % 5 == 0 {
                    _ = try await bench.found("word", in: "notes_of_it")
                    try database.write(
                        Transaction(id: database.nextTransaction, mutations: [.delete(key)], clientTime: 1))
                }
            }
            #expect(try await bench.found("word", in: "notes_of_it") == 16 * round)
            try database.close()
        }
    }
}

extension LocalDatabase {
    /// An id that no transaction of this database has.
    fileprivate var nextTransaction: TransactionID {
        get throws { try writer.read { db in .transaction(UInt64(try OutboxCounts(db).written) + 1) } }
    }
}
