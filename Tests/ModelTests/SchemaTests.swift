import Testing
import TidemarkModel

@Suite struct `Schema documents` {
    static let shop = #"""
        {"tidemark": 1, "name": "shop", "version": 3, "collections": {
          "shops": {"scope": "self", "members": "staff", "admins": "chiefs", "fields": {
            "name": {"type": "string", "required": true, "max": 40},
            "staff": {"type": "set", "merge": "elements"}, "chiefs": {"type": "set", "merge": "elements"}}},
          "orders": {"scope": "shopId", "change": ["member"], "delete": ["admin"], "fields": {
            "shopId": {"type": "reference", "to": "shops", "required": true, "merge": "immutable"},
            "status": {"type": "string", "index": true}, "parts": {"type": "integer", "merge": "counter"},
            "paid": "boolean", "total": {"type": "double", "change": ["admin"]}}}}}
        """#

    private func schema(_ text: String) throws(SchemaError) -> Schema { try Schema(json: Array(text.utf8)) }

    @Test func `a document becomes collections with rules, scopes and access`() throws {
        let schema = try schema(Self.shop)
        let orders = try #require(schema.collection("orders"))
        #expect(schema.version == 3)
        #expect(orders.scope == .field("shopId"))
        #expect(orders.field("parts")?.merge == .counter)
        #expect(orders.field("status")?.isIndexed == true)
        #expect(orders.field("total")?.change == [.admin])
        #expect(orders.delete == [.admin])
        #expect(schema.collection("shops")?.create == [.anyone])
    }

    @Test func `a field says who may set it at the creation, and whether a reference stays in its scope`() throws {
        let schema = try Schema(
            json: Array(
                #"""
                {"tidemark": 1, "collections": {
                  "shops": {"scope": "self", "members": "staff", "fields": {"staff": "set"}},
                  "jobs": {"was": "orders", "scope": "shop", "fields": {
                    "shop": {"type": "reference", "to": "shops", "required": true, "merge": "immutable"},
                    "price": {"type": "integer", "change": ["admin"], "default": 0},
                    "status": {"type": "string", "create": ["member"], "change": ["admin"]},
                    "partOf": {"type": "reference", "to": "jobs", "within": "scope", "was": "parent"}}}}}
                """#.utf8))
        let jobs = try #require(schema.collection("jobs"))
        #expect(jobs.field("price")?.creators == [.admin] && jobs.field("status")?.creators == [.member])
        #expect(jobs.field("shop")?.creators == nil && jobs.hasCreationRules)
        #expect(jobs.innerReferences.map(\.name) == ["partOf"])
        let stored = try #require(schema.stored.collection("orders"))
        #expect(stored.innerReferences.map(\.name) == ["parent"] && stored.innerReferences.map(\.target) == ["orders"])
        let member = Standing(role: .member, isAuthor: true, isService: false)
        #expect(member.refused(creating: ["price": 1, "status": "new"], in: jobs)?.name == "price")
        #expect(member.refused(creating: ["price": 0, "status": "new"], in: jobs) == nil)
    }

    @Test(arguments: [
        (#"{"type": "string", "within": "scope"}"#, "needs type reference"),
        (#"{"type": "reference", "within": "scope"}"#, "needs type reference"),
        (#"{"type": "reference", "to": "notes", "within": "workspace"}"#, "is \"scope\""),
        (#"{"type": "reference", "to": "people", "within": "scope"}"#, "in a shared scope"),
    ])
    func `a reference that cannot be within its scope is refused`(_ field: String, _ reason: String) {
        let document = #"""
            {"tidemark": 1, "collections": {
              "rooms": {"scope": "self", "members": "m", "fields": {"m": "set"}},
              "people": {"scope": {"shared": "all"}, "fields": {"name": "string"}},
              "notes": {"scope": "room", "fields": {
                "room": {"type": "reference", "to": "rooms", "required": true, "merge": "immutable"},
                "other": \#(field)}}}}
            """#
        let error = #expect(throws: SchemaError.self) { try Schema(json: Array(document.utf8)) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test(arguments: [
        ("Tidemark_meta", "names that begin with tidemark_ are reserved for Tidemark's own tables"),
        ("sqlite_orders", "names that begin with sqlite_ are reserved for SQLite's own tables"),
        ("PRAGMA_table_info", "names that begin with pragma_ are reserved for table-valued functions of SQLite"),
        ("json_each", "is the name of a table-valued function of SQLite"),
        ("JSON_Tree", "is the name of a table-valued function of SQLite"),
    ]) func `a collection cannot have a name that devices use themselves`(name: String, reason: String) throws {
        let text = Self.shop.replacing(#""orders""#, with: "\"\(name)\"")
        let error = #expect(throws: SchemaError.self) { try schema(text) }
        #expect(error?.description == "schema: \(name): \(reason)")
    }

    @Test(arguments: ["id", "Local_ID", "seq", "STATE", "born"])
    func `a field cannot have the name of a column that every record has`(name: String) throws {
        let text = Self.shop.replacing(#""total""#, with: "\"\(name)\"")
        let error = #expect(throws: SchemaError.self) { try schema(text) }
        #expect(error?.description == "schema: orders.\(name): is the name of a column that every record has")
    }

    @Test func `keywords and hidden columns of SQLite are ordinary names`() throws {
        for name in ["order", "rowid", "rank", "true", "excluded", "messages_config"] {
            let quoted = "\"\(name)\""
            let text = Self.shop.replacing(#""total""#, with: quoted).replacing(#""orders""#, with: quoted)
            #expect(throws: Never.self) { try schema(text) }
        }
    }

    @Test func `server and wire know a renamed collection by its first name`() throws {
        let renamed = try schema(
            Self.shop.replacing(#""orders": {"#, with: #""jobs": {"was": "orders", "#)
                .replacing(#""to": "shops""#, with: #""to": "stores""#)
                .replacing(#""shops": {"#, with: #""stores": {"was": "shops", "#))
        #expect(renamed.collections.map(\.name) == ["jobs", "stores"])
        #expect(renamed.stored == (try schema(Self.shop)))
        #expect(renamed.stored.stored == renamed.stored)
    }

    @Test func `server and wire know a renamed field by its first name, and accept the others`() throws {
        let renamed = try schema(
            Self.shop.replacing(#""scope": "shopId""#, with: #""scope": "shop""#)
                .replacing(#""shopId": {"#, with: #""shop": {"was": "shopId", "#)
                .replacing(#""staff", "admins""#, with: #""crew", "admins""#)
                .replacing(#""staff": {"#, with: #""crew": {"was": ["staff", "team"], "#)
        ).stored
        #expect(renamed.collection("orders")?.scope == .field("shopId"))
        #expect(renamed.collection("orders")?.field("shop")?.name == "shopId")
        let shops = try #require(renamed.collection("shops"))
        #expect(shops.memberField == "staff")
        #expect(["staff", "team", "crew"].map { shops.field($0)?.name } == ["staff", "staff", "staff"])
        #expect(renamed.stored == renamed)
    }

    @Test(arguments: [
        (#""was": ["status"]"#, "\"was\" names a field that exists: status"),
        (#""was": ["a", "a"]"#, "two fields cannot both have been a"),
        (#""was": ["a b"]"#, "is not a valid name of a field"),
        (#""was": 1"#, "\"was\" must be a list of strings"),
    ])
    func `a name that a field cannot have had is refused`(_ was: String, _ reason: String) {
        let text = Self.shop.replacing(#""parts": {"#, with: #""parts": {\#(was), "#)
        let error = #expect(throws: SchemaError.self) { try schema(text) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test func `a present field cannot be listed as removed`() throws {
        let taken = try schema(
            Self.shop.replacing(#""version": 3"#, with: #""version": 3, "removed": ["logs"]"#)
                .replacing(#""delete": ["admin"]"#, with: #""delete": ["admin"], "removed": ["note"]"#))
        #expect(taken.removedCollections == ["logs"] && taken.collection("orders")?.removedFields == ["note"])
        #expect(taken.isReadable("logs") && taken.isReadable("orders") && !taken.isReadable("others"))
        for (from, to) in [
            (#""version": 3"#, #""version": 3, "removed": ["orders"]"#),
            (#""delete": ["admin"]"#, #""delete": ["admin"], "removed": ["paid"]"#),
        ] {
            let error = #expect(throws: SchemaError.self) { try schema(Self.shop.replacing(from, with: to)) }
            #expect(error?.reason == "is defined, so \"removed\" must not list it")
        }
    }

    @Test(arguments: [
        ("{", "not valid JSON"), ("{\"collections\":{}}", "\"tidemark\" must be 1"),
        (#"{"tidemark":1,"collections":{"a":{"fields":{}}}}"#, "a: \"scope\" is missing"),
        (#"{"tidemark":1,"collections":{"a":{"scope":"self","fields":{}}}}"#, "a: \"members\" must name"),
        (#"{"tidemark":1,"collections":{"a":{"scope":"b","fields":{"b":"string"}}}}"#, "a.b: holds the scope"),
        (
            #"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"fields":{"b":"text"}}}}"#,
            "a.b: \"type\" cannot be text"
        ),
        (
            #"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"fields":{"b":{"type":"string","merg":"lww"}}}}}"#,
            "a.b: unknown key \"merg\""
        ),
        (
            #"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"fields":{"b":{"type":"string","merge":"counter"}}}}}"#,
            "a.b: rule counter needs a number"
        ),
        (
            #"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"fields":{"b":{"type":"json","merge":"keys"}}}}}"#,
            "a.b: rule keys needs type map"
        ),
        (
            #"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"fields":{"seq":"string"}}}}"#,
            "a.seq: is the name of a column"
        ),
        (
            #"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"create":["everybody"],"fields":{}}}}"#,
            "one of anyone, member, admin, owner, author, server"
        ),
        (
            #"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"fields":{"b":"string","B":"string"}}}}"#,
            "differs from another field only by case"
        ),
        (
            #"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"fields":{}},"b":{"was":"a","scope":{"shared":"s"},"fields":{}}}}"#,
            "b: \"was\" names a collection that exists: a"
        ),
        (
            #"{"tidemark":1,"collections":{"a":{"was":"c","scope":{"shared":"s"},"fields":{}},"b":{"was":"c","scope":{"shared":"s"},"fields":{}}}}"#,
            "a: two collections cannot both have been c"
        ),
        (
            #"{"tidemark":1,"collections":{"a":{"was":"1 x","scope":{"shared":"s"},"fields":{}}}}"#,
            "a: \"was\" is not a valid name of a collection"
        ),
    ])
    func `a mistake is reported with its position`(_ document: String, _ reason: String) {
        let error = #expect(throws: SchemaError.self) { try schema(document) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test(arguments: [
        (#""b":{"type":"boolean","default":false}"#, FieldValue.boolean(false)),
        (#""b":{"type":"double","default":2}"#, .double(2)),
        (#""b":{"type":"timestamp","default":-1}"#, .integer(-1)),
        (#""b":{"type":"string","default":"","max":1,"merge":"manual"}"#, .string("")),
        (#""b":{"type":"integer","default":7,"merge":"immutable"}"#, .integer(7)),
    ])
    func `a default is a value of the field's type`(_ field: String, _ value: FieldValue) throws {
        let text = #"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"fields":{\#(field),"c":"string"}}}}"#
        let collection = try #require(try schema(text).collection("a"))
        #expect(collection.field("b")?.defaultValue == value && collection.field("c")?.defaultValue == nil)
        #expect(collection.defaults == ["b": value])
    }

    @Test(arguments: [
        (#""type":"boolean","default":0"#, "a.b: \"default\" must be boolean, not integer"),
        (#""type":"string","default":null"#, "a.b: \"default\" must be string, not null"),
        (#""type":"timestamp","default":1.5"#, "a.b: \"default\" must be timestamp, not double"),
        (#""type":"map","default":{}"#, "a.b: \"default\" is for strings, numbers, booleans and timestamps"),
        (#""type":"reference","default":"x""#, "and the field is reference"),
        (#""type":"string","default":"abc","max":2"#, "a.b: \"default\" is larger than \"max\""),
        (#""type":"string","default":"a\u0000""#, "a.b: \"default\" has a NUL in it"),
        (#""type":"string","default":"a","required":true"#, "a.b: a required field is never absent"),
        (#""type":"string","default":"a","search":true"#, "\"search\" takes no \"default\""),
        (#""type":"integer","default":0,"merge":"counter""#, "rule counter starts at its own value"),
        (#""type":"integer","default":0,"merge":"max""#, "rule max starts at its own value"),
    ])
    func `an impossible default is refused with its position`(_ keys: String, _ reason: String) {
        let text = #"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"fields":{"b":{\#(keys)}}}}}"#
        let error = #expect(throws: SchemaError.self) { try schema(text) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }
}
