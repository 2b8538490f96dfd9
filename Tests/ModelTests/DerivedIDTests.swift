import Testing
import TidemarkModel

@Suite struct DerivedIDTests {
    /// The rules of `Shared/SCHEMA.md`. A version that made other ids would split every conversation.
    @Test(arguments: [
        (["direct", "ann", "bob"], 0, "13bf88ee-4cdc-8c97-a342-cdd42b60e973"),
        (["direct", "ann", "bob"], 1, "e458c6af-337a-80d7-b73b-62cf9b77b169"),
        (["profile", "ann"], 0, "c3228def-83c0-89cc-b918-b9e21885d8dd"),
    ])
    func `names make the documented ids`(_ names: [String], _ candidate: Int, _ id: String) {
        let made = DerivedID.make(names, candidate: candidate)
        #expect(made.description == id)
        #expect(made.isDerived)
    }

    @Test func `no other list of names makes the same id`() {
        let lists = [
            ["direct", "a", "bc"], ["direct", "ab", "c"], ["directa", "bc"], ["direct 1", "a", "bc"],
            ["direct", "a", "bc", "1"],
        ]
        let ids = lists.map { DerivedID.make($0) } + [DerivedID.make(["direct", "ab", "c"], candidate: 1)]
        #expect(Set(ids).count == ids.count)
    }

    @Test func `random ids are never of version 8`() {
        #expect(!UniqueID.version7(milliseconds: 1_760_000_000_000, random: (.max, .max)).isDerived)
        #expect(!UniqueID(high: 0x8000, low: 1).isDerived)
        #expect(!UniqueID(high: 0x4000, low: 1 << 63).isDerived)
    }

    private func collection(_ id: String, fields: String = #""people": {"type": "set", "required": true}"#) throws
        -> CollectionSchema
    {
        let text = """
            {"tidemark": 1, "collections": {"pairs": {
                "scope": "self", "members": "people", "id": \(id), "fields": {\(fields)}}}}
            """
        return try #require(try Schema(json: Array(text.utf8)).collection("pairs"))
    }

    @Test func `an id of version 8 needs the values that make it, and others are free`() throws {
        let pairs = try collection(#"{"name": "direct", "of": ["people"]}"#)
        let ann = UserID("ann")
        let both = DerivedID.make(["direct", "ann", "bob"])
        func admits(_ id: UniqueID, _ people: [FieldValue]) -> Bool {
            pairs.admits(id, fields: ["people": .array(people)], author: ann)
        }
        #expect(admits(both, ["bob", "ann"]))
        #expect(!admits(both, ["ann", "bob", "eve"]))
        #expect(!admits(both, ["ann"]))
        #expect(!pairs.admits(both, fields: [:], author: ann))
        #expect(admits(DerivedID.make(["direct", "ann", "bob"], candidate: 7), ["ann", "bob"]))
        #expect(!admits(DerivedID.make(["direct", "ann", "bob"], candidate: 8), ["ann", "bob"]))
        #expect(admits(DerivedID.make(["direct", "ann", "ann"]), ["ann"]))
        #expect(admits(UniqueID(high: 1, low: 2), ["eve"]))
    }

    @Test(arguments: [
        (#"{"name": "a b", "of": ["people"]}"#, "\"id\" is {\"name\": NAME"),
        (#"{"name": "a", "of": []}"#, "\"id\" is {\"name\": NAME"),
        (#"{"name": "a", "of": ["people"], "by": 1}"#, "unknown key \"by\""),
        (#"{"name": "a", "of": ["pets"]}"#, "\"id\" names no field: pets"),
        (#"{"name": "a", "of": ["note"]}"#, "and note is not one"),
        (#"{"name": "a", "of": ["title"]}"#, "must be made of author or people"),
    ])
    func `a rule that cannot hold is refused`(_ rule: String, _ reason: String) {
        let fields =
            #""people": {"type": "set", "required": true}, "note": "string", "title": {"type": "string", "required": true}"#
        let error = #expect(throws: SchemaError.self) { try collection(rule, fields: fields) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    private func goods(_ id: String, _ sku: String, scope: String = #"{"shared": "all"}"#) throws -> CollectionSchema {
        let members = scope == #""self""# ? #""members": "m", "# : ""
        let text = """
            {"tidemark": 1, "collections": {"goods": {"scope": \(scope), \(members)"id": \(id), "fields": {
                "sku": \(sku), "m": "set"}}}}
            """
        return try #require(try Schema(json: Array(text.utf8)).collection("goods"))
    }

    @Test func `a key is one field, and each key has one id`() throws {
        let sku = #"{"type": "string", "required": true, "merge": "immutable"}"#
        let goods = try goods(#"{"name": "good", "key": "sku"}"#, sku)
        #expect(goods.identity?.keyField == "sku")
        let id = DerivedID.make(["good", "a"])
        // Apps of another version must make the same.
        #expect(id.description == "de154343-fd50-8d90-848e-20dfee78d781" && goods.identity?.id(ofKey: "a") == id)
        let ann = UserID("ann")
        #expect(goods.admits(id, fields: ["sku": "a"], author: ann))
        #expect(!goods.admits(id, fields: ["sku": "b"], author: ann))
        #expect(!goods.admits(DerivedID.make(["good", "a"], candidate: 1), fields: ["sku": "a"], author: ann))
        #expect(!goods.admits(UniqueID(high: 1, low: 2), fields: ["sku": "a"], author: ann))
    }

    @Test(arguments: [
        (#"{"name": "good", "key": "sku", "of": ["sku"]}"#, #"{"type": "string", "required": true}"#, "\"id\" is {"),
        (#"{"name": "good", "key": "kind"}"#, #""string""#, "\"id\" names no field: kind"),
        (#"{"name": "good", "key": "sku"}"#, #""string""#, "required, immutable string, and sku is not one"),
        (
            #"{"name": "good", "key": "sku"}"#, #"{"type": "integer", "required": true, "merge": "immutable"}"#,
            "required, immutable string, and sku is not one"
        ),
    ])
    func `an invalid key is refused`(_ id: String, _ sku: String, _ reason: String) {
        let error = #expect(throws: SchemaError.self) { try goods(id, sku) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test func `a scope has no key, which another user could take`() {
        let sku = #"{"type": "string", "required": true, "merge": "immutable"}"#
        let error = #expect(throws: SchemaError.self) {
            try goods(#"{"name": "good", "key": "sku"}"#, sku, scope: #""self""#)
        }
        #expect(error?.description.contains("\"id\" of a key is not for scopes") == true, "\(error?.description ?? "")")
    }
}
