import Testing

@testable import TidemarkModel

/// Constraints in the schema document, and the judgement of records by them.
@Suite struct RecordJudgeTests {
    private static let status = #"""
        {"type": "string", "enum": ["booked", "repairing", "ready", "collected", "lost"], "initial": ["booked", "ready"],
         "transitions": {"booked": ["repairing"], "repairing": ["ready"],
           "ready": [{"to": "collected", "by": ["admin"]}, "repairing"], "lost": []}}
        """#

    private static func document(_ field: String) -> [UInt8] {
        Array(
            #"{"tidemark": 1, "collections": {"notes": {"scope": {"shared": "all"}, "fields": {"x": \#(field), "y": "string"}}}}"#
                .utf8)
    }

    private func collection(_ field: String) throws -> CollectionSchema {
        try #require(try Schema(json: Self.document(field)).collection("notes"))
    }

    private func refusal(_ field: String, from old: FieldValue? = nil, to new: FieldValue?, isNew: Bool = true) throws
        -> String?
    {
        var (before, after) = (Fields(), Fields())
        (before["x"], after["x"]) = (old, new)
        var judge = RecordJudge(try collection(field))
        do throws(Rejection) {
            _ = try judge.judge(from: isNew && old == nil ? nil : before, to: after)
            return nil
        } catch {
            #expect(error.code == .invalid && error.message.hasPrefix("notes.x: "), "\(error)")
            return String(error.message.dropFirst("notes.x: ".count))
        }
    }

    // MARK: Documents

    @Test(arguments: [
        (#"{"type": "integer", "minimum": 5, "maximum": 4}"#, "no value fits"),
        (#"{"type": "integer", "minimum": 0.5}"#, "must be a number that fits integer"),
        (#"{"type": "string", "minimum": 1}"#, "is for numbers and timestamps, and this is string"),
        (#"{"type": "integer", "maxLength": 1}"#, "are for strings, and this is integer"),
        (#"{"type": "string", "minLength": 4, "maxLength": 3}"#, "no text fits"),
        (#"{"type": "string", "minLength": 9, "max": 8}"#, "raise \"max\""),
        (#"{"type": "string", "minLength": -1}"#, "is between 0 and"),
        (#"{"type": "string", "pattern": "(a"}"#, "\"pattern\" at character 3: a ( without its )"),
        (#"{"type": "string", "pattern": "[a-z]{65}"}"#, "set \"max\" or \"maxLength\" to at most"),
        (#"{"type": "string", "enum": []}"#, "1 to 256 values"),
        (#"{"type": "string", "enum": ["a", 1]}"#, "values of string, not 1"),
        (#"{"type": "string", "enum": ["a", null]}"#, "an absent value passes"),
        (#"{"type": "string", "enum": ["a", "a"]}"#, "twice"),
        (
            #"{"type": "integer", "enum": [1, 7], "maximum": 5}"#,
            "lists 7, which never passes: it must be at most 5, not 7"
        ),
        (#"{"type": "boolean", "enum": [true]}"#, "is for strings and numbers"),
        (#"{"type": "string", "enum": ["abc"], "max": 2}"#, "longer than \"max\" 2"),
        (#"{"type": "integer", "minimum": 1, "default": 0}"#, "\"default\" must be at least 1, not 0"),
        (#"{"type": "integer", "merge": "counter", "enum": [1]}"#, "rule counter adds"),
        (#"{"type": "string", "minItems": 1}"#, "are for sets"),
        (#"{"type": "set", "minItems": 3, "maxItems": 2}"#, "no set fits"),
        (#"{"type": "set", "minItems": 3, "max": 2}"#, "raise \"max\""), (#"{"type": "set", "items": {}}"#, "is empty"),
        (#"{"type": "set", "items": {"minimum": 1}}"#, "this is an element of a set"),
        (#"{"type": "set", "items": {"minItem": 1}}"#, "unknown key \"minItem\""),
        (#"{"type": "string", "items": {"enum": ["a"]}}"#, "is for sets and maps"),
        (#"{"type": "string", "initial": ["a"]}"#, "needs \"transitions\""),
        (#"{"type": "string", "transitions": {}}"#, "from 1 to 256"),
        (#"{"type": "integer", "transitions": {"a": ["b"]}}"#, "is for strings"),
        (#"{"type": "string", "transitions": {"a": "b"}}"#, "must be a list"),
        (#"{"type": "string", "transitions": {"a": [1]}}"#, "a step is a value"),
        (#"{"type": "string", "transitions": {"a": ["a"]}}"#, "leads to itself"),
        (#"{"type": "string", "transitions": {"a": ["b", {"to": "b"}]}}"#, "twice"),
        (#"{"type": "string", "transitions": {"a": [{"by": ["admin"]}]}}"#, "needs \"to\""),
        (#"{"type": "string", "transitions": {"a": [{"to": "b", "by": ["chief"]}]}}"#, "cannot be"),
        (#"{"type": "string", "enum": ["a"], "transitions": {"a": ["b"]}}"#, "name b, which \"enum\" does not list"),
        (#"{"type": "string", "initial": [], "transitions": {"a": ["b"]}}"#, "no record could begin"),
        (#"{"type": "string", "merge": "immutable", "transitions": {"a": ["b"]}}"#, "needs rule lww, manual or server"),
        (
            #"{"type": "string", "default": "b", "initial": ["a"], "transitions": {"a": ["b"]}}"#,
            "is not in \"initial\""
        ),
    ])
    func `a constraint that contradicts itself or its field is refused`(_ field: String, _ reason: String) {
        let error = #expect(throws: SchemaError.self) { try Schema(json: Self.document(field)) }
        #expect(error?.collection == "notes" && error?.field?.hasPrefix("x") == true)
        #expect(error?.reason.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test func `constraints follow a renamed field, and two documents with others differ`() throws {
        let old = try Schema(json: Self.document(#"{"type": "integer", "minimum": 1, "was": "w"}"#))
        #expect(old.stored.collection("notes")?.constrained.map(\.name) == ["w"])
        #expect(old != (try Schema(json: Self.document(#"{"type": "integer", "minimum": 2, "was": "w"}"#))))
        #expect(try !Schema(json: Self.document(#""integer""#)).collections[0].isConstrained)
    }

    // MARK: Values

    @Test(
        arguments: [
            (#"{"type": "integer", "minimum": 0, "maximum": 5}"#, 0, nil),
            (#"{"type": "integer", "minimum": 0}"#, -1, "must be at least 0, not -1"),
            (#"{"type": "double", "maximum": 1}"#, 1.5, "must be at most 1.0, not 1.5"),
            (#"{"type": "string", "enum": ["a", "b"]}"#, "c", #"must be one of "a", "b", not "c""#),
            (#"{"type": "string", "enum": ["é"]}"#, "e\u{301}", "must be one of \"é\", not \"e\u{301}\""),
            (#"{"type": "string", "minLength": 2}"#, "a", "must have 2 or more characters, not 1"),
            (#"{"type": "string", "maxLength": 2}"#, "äöü", "must have 2 or fewer characters, not 3"),
            (#"{"type": "string", "maxLength": 3}"#, "äöü", nil),
            (#"{"type": "string", "pattern": "^[a-z]+$"}"#, "abc", nil),
            (#"{"type": "string", "pattern": "^[a-z]+$"}"#, "aBc", "must match ^[a-z]+$, and \"aBc\" does not"),
            (#"{"type": "set", "minItems": 1}"#, [], "must have 1 or more elements, not 0"),
            (#"{"type": "set", "maxItems": 1}"#, ["a", "b"], "must have 1 or fewer elements, not 2"),
            (
                #"{"type": "set", "items": {"pattern": "^t"}}"#, ["ta", "x"],
                "each element must match ^t, and \"x\" does not"
            ),
            (#"{"type": "map", "items": {"minimum": 0, "maxLength": 3}}"#, .object(["a": 1, "b": "EUR"]), nil),
            (
                #"{"type": "map", "items": {"minimum": 0}}"#, .object(["a": -1]),
                "the value of a must be at least 0, not -1"
            ),
        ] as [(String, FieldValue, String?)])
    func `a value is judged in plain words`(_ field: String, _ value: FieldValue, _ reason: String?) throws {
        #expect(try refusal(field, to: value) == reason)
        // What was there before stays, and an absent value passes.
        #expect(try refusal(field, from: value, to: value) == nil)
        #expect(try refusal(field, to: nil) == nil)
        #expect(try refusal(field, from: value, to: nil) == nil)
    }

    @Test func `of a set and a map only what is new is judged`() throws {
        let set = #"{"type": "set", "items": {"maxLength": 1}}"#
        #expect(try refusal(set, from: ["a", "old"], to: ["a", "b", "old"]) == nil)
        #expect(try refusal(set, from: ["old"], to: ["new", "old"]) != nil)
        let map = #"{"type": "map", "items": {"maximum": 1}}"#
        #expect(try refusal(map, from: .object(["a": 9]), to: .object(["a": 9, "b": 1])) == nil)
        #expect(try refusal(map, from: .object(["a": 9]), to: .object(["a": 8])) != nil)
    }

    // MARK: Steps

    @Test(
        arguments: [
            (nil, "booked", nil), (nil, "repairing", #"begins with "booked", "ready", not "repairing""#),
            ("booked", "repairing", nil),
            ("booked", "collected", #"cannot change from "booked" to "collected", only to "repairing""#),
            ("collected", "booked", #"cannot change from "collected" to "booked", which is final"#),
            ("lost", "booked", #"cannot change from "lost" to "booked", which is final"#), ("booked", "booked", nil),
            ("booked", nil, "changes by the schema's steps and cannot be removed"), ("ancient", "booked", nil),
            ("ancient", "collected", #"begins with "booked", "ready", not "collected""#),
            ("ready", "gone", #"must be one of "booked", "repairing", "ready", "collected", "lost", not "gone""#),
        ] as [(String?, String?, String?)])
    func `a status moves by its steps`(_ from: String?, _ to: String?, _ reason: String?) throws {
        let (old, new) = (from.map { FieldValue.string($0) }, to.map { FieldValue.string($0) })
        #expect(try refusal(Self.status, from: old, to: new) == reason)
        // A record without a status continues where a record begins.
        if from == nil { #expect(try refusal(Self.status, to: new, isNew: false) == reason) }
    }

    @Test func `a step for some users is returned to the caller`() throws {
        let collection = try collection(Self.status)
        var judge = RecordJudge(collection)
        #expect(try judge.judge(from: ["x": "ready"], to: ["x": "repairing"]).isEmpty)
        let steps = try judge.judge(from: ["x": "ready"], to: ["x": "collected"])
        #expect(steps == [RecordJudge.Step(field: "x", from: "ready", to: "collected", by: [.admin])])
        #expect(
            steps.first?.refusal(in: collection).message == #"notes.x: may change from "ready" to "collected" by admin"#
        )
        #expect(steps.first?.refusal(in: collection).code == .forbidden)
    }

    @Test func `a default is the value before the first step, and steps without an enum name all values`() throws {
        let field = #"{"type": "string", "default": "a", "initial": ["a"], "transitions": {"a": ["b"], "b": ["c"]}}"#
        #expect(try refusal(field, to: "b", isNew: false) == nil)
        #expect(try refusal(field, to: "c", isNew: false) == #"cannot change from "a" to "c", only to "b""#)
        #expect(try refusal(field, from: "b", to: nil) == #"cannot change from "b" to "a", only to "c""#)
        #expect(try refusal(field, to: "d") == #"must be one of "a", "b", "c", not "d""#)
        #expect(try refusal(field, to: "b") == #"begins with "a", not "b""#)
    }

    @Test func `a refusal fits its bound, whatever values it names`() throws {
        let long = String(repeating: "x", count: 5_000)
        let values = (0..<200).map { "\"\($0)\(String(repeating: "v", count: 60))\"" }.joined(separator: ", ")
        let reason = try #require(try refusal(#"{"type": "string", "enum": [\#(values)]}"#, to: .string(long)))
        #expect(reason.utf8.count <= Rejection.messageBytesMax && reason.contains("not \"xxx"), "\(reason)")
    }
}
