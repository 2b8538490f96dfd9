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
    ])
    func `what is wrong is named with its place`(_ document: String, _ reason: String) {
        let error = #expect(throws: SchemaError.self) { try schema(document) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }
}
