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

    @Test func `server and wire know a renamed collection by its first name`() throws {
        let renamed = try schema(
            Self.shop.replacing(#""orders": {"#, with: #""jobs": {"was": "orders", "#)
                .replacing(#""to": "shops""#, with: #""to": "stores""#)
                .replacing(#""shops": {"#, with: #""stores": {"was": "shops", "#))
        #expect(renamed.collections.map(\.name) == ["jobs", "stores"])
        #expect(renamed.stored == (try schema(Self.shop)))
        #expect(renamed.stored.stored == renamed.stored)
    }

    @Test(arguments: [
        ("{", "not valid JSON"), ("{\"collections\":{}}", "\"tidemark\" must be 1"),
        (#"{"tidemark":1,"collections":{"a":{"fields":{}}}}"#, "a: \"scope\" is missing"),
        (#"{"tidemark":1,"collections":{"a":{"scope":"self","fields":{}}}}"#, "a: \"members\" must name"),
        (#"{"tidemark":1,"collections":{"a":{"scope":"b","fields":{"b":"string"}}}}"#, "a.b: holds the scope"),
        (
            #"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"fields":{"b":"text"}}}}"#,
            "a.b: \"type\" does not know text"
        ),
        (
            #"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"fields":{"b":{"type":"string","merg":"lww"}}}}}"#,
            "a.b: unknown key \"merg\""
        ),
        (
            #"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"fields":{"b":{"type":"string","merge":"counter"}}}}}"#,
            "a.b: rule counter needs a number"
        ),
        (#"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"fields":{"seq":"string"}}}}"#, "a.seq: a name is"),
        (
            #"{"tidemark":1,"collections":{"a":{"scope":{"shared":"s"},"create":["everybody"],"fields":{}}}}"#,
            "is one of anyone, member, admin, owner, author, server"
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
            "a: \"was\" is no name of a collection"
        ),
    ])
    func `what is wrong is named with its place`(_ document: String, _ reason: String) {
        let error = #expect(throws: SchemaError.self) { try schema(document) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }
}
