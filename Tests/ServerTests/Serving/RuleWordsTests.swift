import Testing
import TidemarkModel
import TidemarkOperations

@Suite struct RuleWordsTests {
    private func schema(_ rules: String) throws -> Schema {
        let document = """
            {"tidemark": 1, "collections": {"orders": {"scope": {"shared": "all"}, "fields": {
              "status": {"type": "string", "required": true}, "total": {"type": "integer", "required": true},
              "deposit": {"type": "integer", "default": 0}, "tags": {"type": "set", "max": 50}, "note": "string"},
              "rules": [\(rules)]}}}
            """
        return try Schema(json: Array(document.utf8))
    }

    @Test(arguments: [
        ("after.deposit <= after.total", "deposit is at most total"),
        (
            "before == null || before.status != 'collected' || role in ['admin', 'owner']",
            "the record is new or status before is not 'collected' or the writer's role is in ['admin', 'owner']"
        ),
        (
            "!has(after.note) || after.note.startsWith('a') && size(after.tags) > 2",
            "not (note has a value) or (note begins with 'a' and the size of tags is more than 2)"
        ),
        (
            "after.tags.all(tag, tag.contains(user) || now < 5)",
            "for each tag in tags: (tag contains the writer or the server's time is less than 5)"
        ),
        (
            "(op == 'create' ? after.deposit : after.total * 2) >= 10",
            "(if the operation is 'create', then deposit, else (total * 2)) is at least 10"
        ),
    ])
    func `a rule is a sentence in plain words`(_ condition: String, _ words: String) throws {
        let json = FieldValue.string(condition).json
        let schema = try schema(#"{"name": "it", "if": \#(json), "message": "No.", "services": true}"#)
        let line = #"  rule      it (create, change, restore, services too): \#(words): "No.""#
        #expect(schema.summary.contains(line), "\(schema.summary)")
    }

    @Test func `a new rule costs old apps something, and a removed one nothing`() throws {
        let rule = #"{"name": "deposit", "if": "after.deposit <= after.total"}"#
        let other = #"{"name": "deposit", "if": "after.deposit < after.total"}"#
        func change(_ old: String, _ new: String) throws -> [String] {
            SchemaComparison(from: try schema(old), to: try schema(new)).changes.map { "\($0.kind) \($0.what)" }
                .filter { !$0.hasSuffix("version") }
        }
        #expect(try change("", rule) == ["narrowed orders: rule deposit"])
        #expect(try change(rule, other) == ["narrowed orders: rule deposit"])
        #expect(try change(rule, "") == ["loosened orders: rule deposit"])
        #expect(try change(rule, rule).isEmpty)
    }
}
