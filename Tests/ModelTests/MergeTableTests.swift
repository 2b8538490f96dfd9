import Testing
import TidemarkModel

/// The result of each rule for each patch, listed by hand. The simulator's oracle and the checks of copies merge with
/// the product's own code: a mistake in a rule is the same in both, and is only found here.
@Suite struct MergeTableTests {
    private static let json = #"""
        {"tidemark": 1, "collections": {"notes": {"scope": {"shared": "all"}, "fields": {
          "title": "string", "must": {"type": "string", "required": true}, "flag": "boolean", "at": "timestamp",
          "body": "json", "fixed": {"type": "string", "merge": "immutable"},
          "seen": {"type": "set", "merge": "set"}, "people": {"type": "set", "merge": "elements"},
          "count": {"type": "integer", "merge": "counter"}, "sum": {"type": "double", "merge": "counter"},
          "top": {"type": "integer", "merge": "max"}, "peak": {"type": "double", "merge": "max"},
          "last": {"type": "timestamp", "merge": "max"}, "word": {"type": "string", "merge": "max"},
          "rank": {"type": "integer", "merge": "server"}, "plan": {"type": "string", "merge": "manual"},
          "marks": {"type": "map", "merge": "keys", "max": 100}}}}}
        """#
    private let collection: CollectionSchema

    init() throws { collection = try #require(try Schema(json: Array(Self.json.utf8)).collection("notes")) }

    /// One line: a field's value before a patch, the patch, and the value after it; `nil` for no value.
    struct Line: Sendable, CustomTestStringConvertible {
        let field: String
        let before: FieldValue?
        let patch: FieldPatch
        let after: FieldValue?

        init(_ field: String, _ before: FieldValue?, _ patch: FieldPatch, _ after: FieldValue?) {
            (self.field, self.before, self.patch, self.after) = (field, before, patch, after)
        }

        var testDescription: String { "\(field): \(before?.json ?? "none"), \(patch)" }
    }

    private static let replacing: [Line] = [
        Line("title", nil, .set("a"), "a"), Line("title", "a", .set("b"), "b"), Line("title", "b", .set("a"), "a"),
        Line("title", "a", .set(""), ""), Line("title", "a", .unset, nil), Line("title", "a", .set(.null), nil),
        Line("title", nil, .unset, nil), Line("flag", true, .set(false), false), Line("at", 9, .set(3), 3),
        Line("body", ["x"], .set(.object(["k": 1])), .object(["k": 1])), Line("must", "a", .set("b"), "b"),
    ]
    private static let sets: [Line] = [
        Line("seen", nil, .add(["b", "a"]), ["a", "b"]), Line("seen", ["a"], .add(["a"]), ["a"]),
        Line("seen", ["a", "c"], .add(["b"]), ["a", "b", "c"]), Line("seen", ["a"], .add([]), ["a"]),
        Line("seen", ["b"], .set(["a"]), ["a", "b"]), Line("people", nil, .add(["b", "a", "b"]), ["a", "b"]),
        Line("people", ["a", "b"], .remove(["a"]), ["b"]), Line("people", ["a", "b"], .remove(["c"]), ["a", "b"]),
        Line("people", ["a"], .remove(["a"]), []), Line("people", nil, .remove(["a"]), []),
        Line("people", ["a", "c"], .add(["b"]), ["a", "b", "c"]),
        Line("people", ["Z", "a"], .add(["b"]), ["Z", "a", "b"]),
    ]
    private static let keys: [Line] = [
        Line("marks", nil, .keys(["b": 1, "a": "x"]), .object(["a": "x", "b": 1])),
        Line("marks", .object(["a": 1, "b": 2]), .keys(["b": 3]), .object(["a": 1, "b": 3])),
        Line("marks", .object(["a": 1, "b": 2]), .keys(["a": .null, "c": true]), .object(["b": 2, "c": true])),
        Line("marks", .object(["a": 1]), .keys(["a": .null]), .object([:])),
        Line("marks", .object(["a": 1]), .keys(["z": .null]), .object(["a": 1])),
        Line("marks", .object(["a": 1]), .keys([:]), .object(["a": 1])),
        Line("marks", nil, .keys(["a": .null]), .object([:])),
        // A patch of an app from before the rule, and a value that one stored.
        Line("marks", .object(["a": 1, "b": 2]), .set(.object(["b": 3])), .object(["a": 1, "b": 3])),
        Line("marks", .object(["a": .null, "b": 2]), .keys(["c": 1]), .object(["b": 2, "c": 1])),
    ]
    private static let counters: [Line] = [
        Line("count", nil, .increment(3), 3), Line("count", 5, .increment(3), 8),
        Line("count", 5, .increment(-7), -2),
        Line("count", -5, .increment(-7), -12), Line("count", -5, .increment(0), -5),
        Line("sum", nil, .increment(.double(0.5)), .double(0.5)),
        Line("sum", .double(1.5), .increment(.double(-2)), .double(-0.5)),
        Line("sum", .double(1), .increment(2), .double(3)),
    ]
    private static let maxima: [Line] = [
        Line("top", nil, .max(3), 3), Line("top", nil, .max(-3), -3), Line("top", 3, .max(5), 5),
        Line("top", 5, .max(3), 5), Line("top", 5, .max(5), 5), Line("top", -5, .max(-3), -3),
        Line("top", -3, .max(-5), -3), Line("top", -3, .max(0), 0), Line("top", 0, .max(-3), 0),
        Line("top", -5, .max(3), 3), Line("top", 3, .max(-5), 3), Line("top", 9, .max(10), 10),
        Line("top", 10, .max(9), 10),
        Line("top", .integer(.min), .max(.integer(.max)), .integer(.max)),
        Line("top", .integer(.max), .max(.integer(.min)), .integer(.max)), Line("top", 3, .set(4), 4),
        Line("top", 4, .set(3), 4),
        Line("peak", .double(-1.5), .max(.double(-1.25)), .double(-1.25)),
        Line("peak", .double(-1.25), .max(.double(-1.5)), .double(-1.25)),
        Line("peak", .double(2), .max(3), .double(3)),
        Line("last", 9_007_199_254_740_992, .max(9_007_199_254_740_993), 9_007_199_254_740_993),
        Line("last", -1, .max(-2), -1), Line("word", "b", .max("a"), "b"), Line("word", "a", .max("b"), "b"),
    ]

    @Test(arguments: replacing + sets + keys + counters + maxima)
    func `each rule has the table's result for a patch`(_ line: Line) throws {
        var before: Fields = ["must": "x"]
        before[line.field] = line.before
        var after: Fields = ["must": "x"]
        after[line.field] = line.after
        let patch = NamedPatch(line.field, line.patch)
        #expect(try RecordMerge.updated(before, [patch], in: collection, isService: false) == after)
    }

    @Test(arguments: [
        Line("must", "x", .unset, "x"), Line("must", "x", .set(.null), "x"), Line("fixed", "a", .set("b"), "a"),
        Line("fixed", nil, .set("b"), nil), Line("fixed", "a", .unset, "a"), Line("rank", 1, .set(2), 1),
        Line("rank", nil, .set(2), nil), Line("title", "a", .increment(1), "a"), Line("title", "a", .max("b"), "a"),
        Line("title", "a", .add(["b"]), "a"), Line("seen", ["a"], .remove(["a"]), ["a"]),
        Line("seen", ["a"], .unset, ["a"]),
        Line("people", ["a"], .set(["b"]), ["a"]), Line("people", ["a"], .unset, ["a"]),
        Line("count", 1, .set(2), 1),
        Line("count", 1, .max(2), 1), Line("count", 1, .unset, 1),
        Line("count", .integer(.max), .increment(1), .integer(.max)),
        Line("count", .integer(.min), .increment(-1), .integer(.min)),
        Line("count", 1, .increment(.double(0.5)), 1),
        Line("top", 1, .unset, 1), Line("top", 1, .increment(1), 1), Line("plan", "a", .set("b"), "a"),
        Line("plan", "a", .unset, "a"), Line("marks", .object(["a": 1]), .unset, .object(["a": 1])),
        Line("marks", .object(["a": 1]), .set(.null), .object(["a": 1])),
        Line("marks", .object(["a": 1]), .keys(["b": ["x"]]), .object(["a": 1])),
        Line("marks", .object(["a": 1]), .keys(["": 1]), .object(["a": 1])),
        Line("marks", .object(["a": 1]), .keys([String(repeating: "k", count: 129): 1]), .object(["a": 1])),
        Line("marks", .object(["a": 1]), .keys(["b": .string(String(repeating: "x", count: 99))]), .object(["a": 1])),
        Line("title", "a", .keys(["a": 1]), "a"), Line("top", 1, .keys(["a": 1]), 1),
        Line("people", ["a"], .keys(["a": 1]), ["a"]), Line("count", 1, .keys(["a": 1]), 1),
    ])
    func `a patch that a rule does not accept changes nothing`(_ line: Line) {
        var before: Fields = ["must": "x"]
        before[line.field] = line.before
        let patch = NamedPatch(line.field, line.patch)
        #expect(throws: Rejection.self) {
            try RecordMerge.updated(before, [patch], in: collection, isService: false)
        }
    }

    @Test func `patches of several fields are independent`() throws {
        let before: Fields = ["must": "x", "title": "a", "count": 1, "top": -1, "people": ["a"], "plan": "p"]
        let field = try #require(collection.field("plan"))
        let patches = [
            NamedPatch("title", .unset), NamedPatch("count", .increment(-2)), NamedPatch("top", .max(-2)),
            NamedPatch("people", .remove(["a"])), NamedPatch("plan", .set("q"), seen: ValueMark("p", of: field)),
        ]
        #expect(
            try RecordMerge.updated(before, patches, in: collection, isService: false)
                == ["must": "x", "count": -1, "top": -1, "people": [], "plan": "q"])
    }

    @Test func `a new map has no keys without a value, and at most as many as a map may have`() throws {
        let created = try RecordMerge.created(
            ["must": "x", "marks": .object(["a": .null, "b": 1])], in: collection, isService: false)
        #expect(created["marks"] == .object(["b": 1]))
        let wide = try Schema(json: Array(Self.json.replacing(#""max": 100"#, with: #""max": 100000"#).utf8))
        let notes = try #require(wide.collection("notes"))
        func map(_ count: Int) -> Fields {
            Fields(sorted: (1_000..<(1_000 + count)).map { .init(name: "\($0)", value: 1) })
        }
        let full: Fields = ["must": "x", "marks": .object(map(1_000))]
        #expect(try RecordMerge.created(full, in: notes, isService: false) == full)
        let more = [NamedPatch("marks", .keys(["x": 1]))]
        let error = #expect(throws: Rejection.self) {
            try RecordMerge.updated(full, more, in: notes, isService: false)
        }
        #expect(error?.code == .tooLarge && error?.message == "notes.marks: 1001 keys are over the limit of 1000")
        let swap = [NamedPatch("marks", .keys(["x": 1, "1000": .null]))]
        #expect(throws: Never.self) { try RecordMerge.updated(full, swap, in: notes, isService: false) }
    }

    @Test func `of a map the keys that a write names are seen, and overwritten`() throws {
        let field = try #require(collection.field("marks"))
        func lost(_ seen: Fields, _ met: Fields, _ written: Fields) throws -> [OverwrittenValue] {
            let patch = FieldPatch.keys(written)
            let named = NamedPatch("marks", patch, seen: ValueMark(patch.part(of: .object(seen)), of: field))
            let before: Fields = ["must": "x", "marks": .object(met)]
            let after = try RecordMerge.updated(before, [named], in: collection, isService: false)
            return RecordMerge.overwritten(by: [named], from: before, to: after, in: collection)
        }
        #expect(try lost(["a": 1], ["a": 1, "b": 2], ["a": 3]).isEmpty)
        #expect(try lost(["a": 1], ["b": 9], ["b": 2]).map(\.old) == [.object(["b": 9])])
        let both = try lost(["a": 1], ["a": 2, "b": 9], ["a": 3, "c": 1])
        #expect(both.map(\.old) == [.object(["a": 2])] && both.map(\.new) == [.object(["a": 3, "c": 1])])
        #expect(both.map(\.rule) == [.keys])
        #expect(try lost(["a": 1], ["a": 2], ["a": .null]).map(\.new) == [nil])
        #expect(try lost(["a": 1], ["a": 2], ["a": 2]).isEmpty)
    }

    // MARK: Values overwritten unseen

    /// A field's value when the writer saw it, the one that the write met, the one that it set, and whether that is a
    /// loss.
    @Test(
        arguments: [
            ("title", "a", "a", "b", false), ("title", "a", "c", "b", true), ("title", nil, "c", "b", true),
            ("title", "a", nil, "b", true), ("title", "a", "b", "b", false), ("title", nil, nil, "b", false),
            ("title", "a", "c", nil, true), ("title", "a", "a", nil, false), ("title", "a", nil, nil, false),
            ("rank", 1, 2, 3, true), ("rank", 1, 1, 3, false),
        ] as [(String, FieldValue?, FieldValue?, FieldValue?, Bool)])
    func `a value that its overwriter had not seen is in the ledger`(
        _ name: String, _ seen: FieldValue?, _ met: FieldValue?, _ set: FieldValue?, _ isLoss: Bool
    ) throws {
        let field = try #require(collection.field(name))
        var (before, after): (Fields, Fields) = (["must": "x"], ["must": "x"])
        (before[name], after[name]) = (met, set)
        let patch = NamedPatch(name, set.map { .set($0) } ?? .unset, seen: ValueMark(seen, of: field))
        let found = RecordMerge.overwritten(by: [patch], from: before, to: after, in: collection)
        #expect(found.map(\.field) == (isLoss ? [name] : []))
        #expect(found.map(\.old) == (isLoss ? [met] : []) && found.map(\.new) == (isLoss ? [set] : []))
        let mute = NamedPatch(name, patch.patch)
        #expect(RecordMerge.overwritten(by: [mute], from: before, to: after, in: collection).isEmpty)
    }

    @Test func `sets, counters and maxima lose nothing`() throws {
        let before: Fields = ["people": ["a"], "count": 1, "top": 5, "seen": ["a"]]
        let after: Fields = ["people": [], "count": 2, "top": 6, "seen": ["a", "b"]]
        let patches = [
            NamedPatch("people", .remove(["a"]), seen: .absent), NamedPatch("count", .increment(1), seen: .absent),
            NamedPatch("top", .max(6), seen: .absent), NamedPatch("seen", .add(["b"]), seen: .absent),
        ]
        #expect(RecordMerge.overwritten(by: patches, from: before, to: after, in: collection).isEmpty)
    }
}
