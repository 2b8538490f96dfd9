import Testing
import TidemarkModel

@testable import TidemarkOperations

@Suite struct SchemaComparisonTests {
    private static let old = """
        {"tidemark": 1, "name": "shop", "version": 3, "collections": {
          "shops": {"scope": "self", "members": "staff", "fields": {
            "staff": {"type": "set", "merge": "elements"}, "name": {"type": "string", "max": 40}}},
          "orders": {"scope": "shopId", "delete": ["member"], "fields": {
            "shopId": {"type": "reference", "to": "shops", "required": true, "merge": "immutable"},
            "partOf": {"type": "reference", "to": "orders"}, "problem": "string", "total": "integer"}},
          "jobs": {"was": "tasks", "scope": "shopId", "fields": {
            "shopId": {"type": "reference", "to": "shops", "required": true, "merge": "immutable"}}}}}
        """

    private func comparison(_ replacements: [(String, String)] = []) throws -> SchemaComparison {
        var text = Self.old.replacing(#""version": 3"#, with: #""version": 4"#)
        for (from, to) in replacements {
            #expect(text.contains(from))
            text = text.replacing(from, with: to)
        }
        return SchemaComparison(
            from: try Schema(json: Array(Self.old.utf8)), to: try Schema(json: Array(text.utf8)))
    }

    private func only(_ replacements: (String, String)...) throws -> SchemaComparison.Change {
        let comparison = try comparison(replacements)
        #expect(comparison.changes.count == 1, "\(comparison.text)")
        return try #require(comparison.changes.first)
    }

    @Test func `the same schema again is no change`() throws {
        let same = try comparison()
        #expect(same.changes.isEmpty && !same.costsOldApps)
        #expect(same.text == "shop, version 3 to 4: nothing that apps would meet")
    }

    @Test func `additions and renames cost nothing`() throws {
        let wider = try comparison([
            (#""problem": "string""#, #""fault": {"type": "string", "was": "problem"}, "paid": "boolean""#),
            (#""jobs": {"was": "tasks""#, #""works": {"was": "tasks""#),
        ])
        #expect(wider.changes.map(\.kind) == [.renamed, .renamed, .added])
        #expect(wider.changes.map(\.what) == ["jobs to works", "orders.problem to fault", "orders.paid"])
        #expect(!wider.costsOldApps)
    }

    @Test func `a default that is added, changed or removed is named, and costs nothing`() throws {
        let (none, one, two) = (
            #""total": "integer""#, #""total": {"type": "integer", "default": 1}"#,
            #""total": {"type": "integer", "default": 2}"#
        )
        func change(_ from: String, _ to: String) throws -> [String] {
            let old = try Schema(json: Array(Self.old.replacing(none, with: from).utf8))
            let text = Self.old.replacing(#""version": 3"#, with: #""version": 4"#).replacing(none, with: to)
            let comparison = SchemaComparison(from: old, to: try Schema(json: Array(text.utf8)))
            #expect(!comparison.costsOldApps)
            return comparison.changes.map { "\($0.kind) \($0.what)" }
        }
        #expect(try change(none, one) == ["loosened orders.total: default 1"])
        #expect(try change(one, two) == ["loosened orders.total: default 1 to 2"])
        #expect(try change(two, none) == ["loosened orders.total: no default"])
        #expect(try change(two, two).isEmpty)
        let schema = try Schema(json: Array(Self.old.replacing(none, with: two).utf8))
        #expect(schema.summary.contains("integer lww default 2 max 128"), "\(schema.summary)")
    }

    @Test func `a key that records are identified by costs old apps something`() throws {
        let no = #"{"type": "string", "required": true, "merge": "immutable"}"#
        let keyed = try comparison([
            (
                #""orders": {"scope": "shopId", "#,
                #""orders": {"scope": "shopId", "id": {"name": "order", "key": "no"}, "#
            ), (#""problem": "string""#, #""problem": "string", "no": \#(no)"#),
        ])
        let change = try #require(keyed.changes.first { $0.what == "orders: id" })
        #expect(change.kind == .narrowed && change.effect.contains("(id_conflict)"))
    }

    @Test func `a removal says what old apps meet, and what to do about it`() throws {
        let bare = try only((#", "total": "integer""#, ""))
        #expect(bare.kind == .takenAway && bare.what == "orders.total")
        #expect(bare.effect.contains(#"list "total" under "removed" of orders"#))
        let listed = try only(
            (#", "total": "integer""#, ""), (#""delete": ["member"]"#, #""delete": ["member"], "removed": ["total"]"#))
        #expect(listed.kind == .takenAway && listed.effect.contains("are left out"))
        let jobs = #"""
            "total": "integer"}},
              "jobs": {"was": "tasks", "scope": "shopId", "fields": {
                "shopId": {"type": "reference", "to": "shops", "required": true, "merge": "immutable"}}}}}
            """#
        let end = (jobs, #""total": "integer"}}}}"#)
        let gone = try only(end)
        #expect(gone.what == "jobs" && gone.effect.contains(#"list "tasks" under "removed""#))
        let said = try only(end, (#""name": "shop","#, #""name": "shop", "removed": ["tasks"],"#))
        #expect(said.what == "jobs" && said.effect.contains("the rest of the transaction takes effect"))
    }

    @Test func `a new name that forgets the first one is found`() throws {
        let cut = try comparison([(#""jobs": {"was": "tasks""#, #""works": {"was": "jobs""#)])
        #expect(cut.changes.map(\.kind) == [.takenAway, .added])
        #expect(cut.text.contains(#""was" of works must begin with the first name, "tasks""#))
    }

    @Test(arguments: [
        (#""max": 40"#, #""max": 20"#, "shops.name: max 40 to 20"),
        (#""problem": "string""#, #""problem": {"type": "string", "required": true}"#, "orders.problem: required"),
        (
            #""problem": "string""#, #""problem": {"type": "string", "merge": "manual"}"#,
            "orders.problem: merge lww to manual"
        ),
        (#""problem": "string""#, #""problem": {"type": "string", "change": ["admin"]}"#, "orders.problem: change"),
        (#""problem": "string""#, #""problem": {"type": "string", "create": ["admin"]}"#, "orders.problem: create"),
        (#""to": "orders""#, #""to": "orders", "within": "scope""#, "orders.partOf: within"),
        (#""total": "integer""#, #""total": "double""#, "orders.total: integer to double"),
        (#""delete": ["member"]"#, #""delete": ["admin"]"#, "orders: delete"),
        (
            #""total": "integer""#, #""total": "integer", "due": {"type": "timestamp", "required": true}"#,
            "orders.due: required"
        ),
    ])
    func `a narrower rule is named`(_ from: String, _ to: String, _ what: String) throws {
        let change = try only((from, to))
        #expect(change.kind == .narrowed && change.what == what)
    }

    /// Two forms of `orders.problem`, and the changes from one to the other and back.
    @Test(arguments: [
        (
            "", #", "enum": ["a", "b"]"#, [#"narrowed orders.problem: enum "a", "b""#],
            ["loosened orders.problem: no enum"]
        ),
        (
            #", "enum": ["a", "b"]"#, #", "enum": ["a", "c"]"#,
            [#"narrowed orders.problem: enum without "b""#, #"loosened orders.problem: enum with "c""#],
            [#"narrowed orders.problem: enum without "c""#, #"loosened orders.problem: enum with "b""#]
        ),
        ("", #", "minLength": 2"#, ["narrowed orders.problem: minLength 2"], ["loosened orders.problem: no minLength"]),
        (
            #", "maxLength": 3"#, #", "maxLength": 4"#, ["loosened orders.problem: maxLength 3 to 4"],
            ["narrowed orders.problem: maxLength 4 to 3"]
        ),
        ("", #", "pattern": "^a""#, ["narrowed orders.problem: pattern ^a"], ["loosened orders.problem: no pattern"]),
        (
            #", "transitions": {"a": ["b"]}"#, #", "transitions": {"a": ["b"], "b": ["a"]}"#,
            ["loosened orders.problem: transitions"], ["narrowed orders.problem: transitions"]
        ),
        (
            #", "transitions": {"a": ["b"]}"#, #", "transitions": {"a": [{"to": "b", "by": ["admin"]}]}"#,
            ["narrowed orders.problem: transitions"], ["loosened orders.problem: transitions"]
        ),
        (
            #", "transitions": {"a": ["b"]}"#, #", "transitions": {"a": ["b"]}, "initial": ["a"]"#,
            ["narrowed orders.problem: initial a"], ["loosened orders.problem: initial any"]
        ),
    ])
    func `a stricter constraint is named, and a looser one costs nothing`(
        _ one: String, _ other: String, _ there: [String], _ back: [String]
    ) throws {
        func schema(_ constraint: String, _ version: Int) throws -> Schema {
            let field = #""problem": {"type": "string"\#(constraint)}"#
            let text = Self.old.replacing(#""version": 3"#, with: "\"version\": \(version)")
                .replacing(#""problem": "string""#, with: field)
            return try Schema(json: Array(text.utf8))
        }
        for (from, to, expected) in [(one, other, there), (other, one, back)] {
            let comparison = SchemaComparison(from: try schema(from, 3), to: try schema(to, 4))
            #expect(comparison.changes.map { "\($0.kind) \($0.what)" } == expected)
            #expect(comparison.costsOldApps == expected.contains { $0.hasPrefix("narrowed") })
        }
    }

    @Test func `the summary and the models of a schema show constraints`() throws {
        let field =
            #""problem": {"type": "string", "max": 9, "initial": ["a"], "transitions": {"a": ["b", {"to": "c", "by": ["admin"]}]}}"#
        let schema = try Schema(json: Array(Self.old.replacing(#""problem": "string""#, with: field).utf8))
        #expect(schema.summary.contains(#"one of "a", "b", "c" begins with a; steps a → b, c (by admin) max 9"#))
        #expect(schema.swiftModels.contains(#"var problem: String?  // one of "a", "b", "c""#))
    }

    @Test func `a wider rule costs nothing`() throws {
        #expect(try only((#""max": 40"#, #""max": 50"#)).kind == .loosened)
        #expect(try only((#""delete": ["member"]"#, #""delete": ["member", "author"]"#)).kind == .loosened)
    }
}
