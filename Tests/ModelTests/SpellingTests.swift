import Testing
import TidemarkModel

/// Texts are their bytes: two spellings of one character, which Swift's own strings treat as equal, are two values.
@Suite struct `Spellings` {
    private static let composed = "caf\u{e9}"
    private static let decomposed = "cafe\u{301}"
    private let both: FieldValue = [.string(decomposed), .string(composed)]

    private static func collection() throws -> CollectionSchema {
        let json = #"""
            {"tidemark": 1, "collections": {"rooms": {"scope": "self", "members": "members", "admins": "admins", "fields": {
              "members": {"type": "set", "merge": "elements"}, "admins": {"type": "set", "merge": "elements"},
              "tags": {"type": "set", "merge": "set"}, "K": "string", "title": "string", "map": "json",
              "top": {"type": "string", "merge": "max"}}}}}
            """#
        return try #require(try Schema(json: Array(json.utf8)).collection("rooms"))
    }

    private func fold(_ fields: Fields, _ patches: NamedPatch...) throws -> Fields {
        try RecordMerge.updated(fields, patches, in: try Self.collection(), isService: false)
    }

    @Test func `values compare by their bytes, however deep`() {
        let pairs: [(FieldValue, FieldValue)] = [
            (.string(Self.composed), .string(Self.decomposed)), ([.string(Self.composed)], [.string(Self.decomposed)]),
            (.object([Self.composed: 1]), .object([Self.decomposed: 1])),
        ]
        for (one, other) in pairs {
            #expect(one != other && one == one)
            #expect(Set([one, other]).count == 2)
        }
        #expect(FieldValue.string(Self.decomposed).isLess(than: .string(Self.composed)) == true)
        #expect(FieldValue.string(Self.composed).isLess(than: .string(Self.decomposed)) == false)
    }

    @Test func `names are hashed by their bytes`() {
        #expect(UserID(Self.composed).hashValue != UserID(Self.decomposed).hashValue)
        #expect(FieldValue.string(Self.composed).hashValue != FieldValue.string(Self.decomposed).hashValue)
    }

    @Test func `a set contains both, and removes the named one`() throws {
        for field in ["members", "tags"] {
            let one = try fold([field: [.string(Self.composed)]], NamedPatch(field, .add([.string(Self.decomposed)])))
            #expect(one[field]?.json == both.json)
        }
        let left = try fold(["members": both], NamedPatch("members", .remove([.string(Self.composed)])))
        #expect(left["members"]?.json == FieldValue.array([.string(Self.decomposed)]).json)
        let right = try fold(["members": both], NamedPatch("members", .remove([.string(Self.decomposed)])))
        #expect(right["members"]?.json == FieldValue.array([.string(Self.composed)]).json)
    }

    @Test func `a user named admin is one, and another spelling of the name is not`() throws {
        let fields: Fields = ["members": both, "admins": [.string(Self.composed)]]
        let members = MemberList(fields: fields, author: UserID("ann"), collection: try Self.collection())
        #expect(members.role(of: UserID(Self.composed)) == .admin)
        #expect(members.role(of: UserID(Self.decomposed)) == .member)
    }

    @Test func `an object keeps both keys, and both come back`() throws {
        let text = "{\"\(Self.decomposed)\":1,\"\(Self.composed)\":2}"
        let fields = try JSONReader.read(Array(text.utf8)) { try $0.fields() }
        #expect(fields.canonicalBytes == Array(text.utf8))
        #expect(fields[Self.composed] == 2 && fields[Self.decomposed] == 1)
        let swapped: Fields = [Self.decomposed: 2, Self.composed: 1]
        #expect(fields != swapped)
    }

    @Test func `another spelling is another value: it is written, and reported if it was not seen`() throws {
        let collection = try Self.collection()
        let before: Fields = ["title": .string(Self.composed)]
        let seen = ValueMark("older", of: try #require(collection.field("title")))
        let patch = NamedPatch("title", .set(.string(Self.decomposed)), seen: seen)
        let after = try fold(before, patch)
        #expect(after.canonicalBytes == Fields(dictionaryLiteral: ("title", .string(Self.decomposed))).canonicalBytes)
        let told = RecordMerge.overwritten(by: [patch], from: before, to: after, in: collection)
        #expect(told.map(\.field) == ["title"])
    }

    @Test func `a maximum of texts is that of their bytes`() throws {
        let up = try fold(["top": .string(Self.decomposed)], NamedPatch("top", .max(.string(Self.composed))))
        #expect(up.canonicalBytes == Fields(dictionaryLiteral: ("top", .string(Self.composed))).canonicalBytes)
        let down = try fold(["top": .string(Self.composed)], NamedPatch("top", .max(.string(Self.decomposed))))
        #expect(down.canonicalBytes == up.canonicalBytes)
    }

    /// U+212A, the sign for kelvin, is another spelling of K.
    @Test func `a schema knows only its own spelling`() throws {
        let json = #"{"tidemark": 1, "collections": {"K": {"scope": {"shared": "all"}, "fields": {"K": "string"}}}}"#
        let schema = try Schema(json: Array(json.utf8))
        #expect(schema.collection("K")?.field("K") != nil)
        #expect(schema.collection("\u{212a}") == nil)
        #expect(schema.collection("K")?.field("\u{212a}") == nil)
        #expect(throws: Rejection.self) {
            try RecordMerge.created(["\u{212a}": "x"], in: try Self.collection(), isService: false)
        }
    }
}
