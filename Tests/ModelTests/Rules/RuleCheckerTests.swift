import Testing
import TidemarkModel

@Suite struct RuleCheckerTests {
    private static let fields = #"""
        {"shopId": {"type": "reference", "required": true, "merge": "immutable"},
         "status": {"type": "string", "required": true}, "total": {"type": "double", "required": true},
         "deposit": {"type": "double", "default": 0}, "parts": {"type": "integer", "required": true},
         "dueAt": {"type": "timestamp", "required": true}, "note": "string", "paid": {"type": "boolean", "default": false},
         "tags": {"type": "set", "max": 50}, "watchers": "set", "more": "map", "any": "json",
         "longText": {"type": "string", "required": true, "max": 1000000}}
        """#

    private func schema(_ rule: String) throws(SchemaError) -> Schema {
        let document = """
            {"tidemark": 1, "collections": {
              "shops": {"scope": "self", "members": "staff", "fields": {"staff": "set"}},
              "orders": {"scope": "shopId", "fields": \(Self.fields), "rules": [\(rule)]}}}
            """
        return try Schema(json: Array(document.utf8))
    }

    private func error(_ condition: String, _ more: String = "") -> String? {
        do throws(SchemaError) {
            _ = try schema(#"{"name": "it", "if": \#(FieldValue.string(condition).json)\#(more)}"#)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(arguments: [
        "after.status == 'new'", "after.deposit <= after.total", "after.total >= 0", "after.parts + 1 > 2",
        "before == null || before.status != 'collected' || role == 'admin'", "user in after.tags",
        "after.tags.all(tag, tag.startsWith('a') && size(tag) < 10)", "!has(after.note) || after.note != ''",
        "after.dueAt - now < 86400000", "after.any == 1 || after.paid", "'a' in after.more", "size(after.tags) <= 3",
        "before == null || after.parts >= before.parts", "role in ['admin', 'owner']", "after.note != 'secret'",
        "after.paid ? role == 'owner' : true", "has(after.note) ? after.note.contains(after.status) : true",
    ])
    func `a rule that can be judged is accepted`(_ condition: String) {
        #expect(error(condition) == nil)
    }

    @Test(arguments: [
        ("after.stauts == 'new'", "1:6: the collection has no field stauts"),
        ("after.duEat > 0", "1:6: the collection has no field duEat: is dueAt meant?"),
        ("status == 'new'", "1:1: status is a field of the record: write after.status or before.status"),
        ("customer == 'x'", "1:1: customer is unknown: there are before, after, user, role, author, now, op"),
        ("scope.name == 'x'", "1:1: scope is not supported yet: a rule reads its own record only"),
        ("after.status == 1", "1:14: == between text and a whole number is always false: compare values of one type"),
        ("after.status < 1", "1:14: < between text and a whole number has no order"),
        (
            "after.total * 2 > 1.0",
            "1:13: * between a number with fraction and a whole number is not converted: write 2.0 instead of 2, "
                + "double(…) or int(…)"
        ),
        ("after.parts", "1:6: a rule is true or false, and this is a whole number"),
        ("after.paid && after.parts", "1:20: && applies to true or false, and after.parts is a whole number"),
        (
            "1 in after.tags",
            "1:3: in between a whole number and a list is never true: the right side is a set, list or map of such values"
        ),
        ("after == before", "1:7: whole records are not compared: compare their fields"),
        ("after['status'] == 'new'", "1:1: a field of a record is read with a dot: after.name"),
        ("role == 'boss'", "1:9: role is never 'boss'; it is none, member, admin, owner, server"),
        ("op in ['create', 'update']", "1:18: op is never 'update'; it is create, change, delete, restore"),
        ("1 > 2", "1:3: is never true, so that it refuses every write"),
        ("after.paid || true", "1:12: is always true, so that it refuses nothing"),
        (
            "after.status == before.status",
            "1:14: always fails at a create: before is null then: name other operations in \"on\", or test op first"
        ),
        (
            "after.note.size() > 3",
            "1:6: note may be absent, and the rule then fails at a create: make the field required, give it a "
                + "\"default\", or write !has(after.note) || …"
        ),
        (
            "after.tags.exists(a, after.watchers.exists(b, a == b))",
            "1:12: may need 2500153 steps; the limit is 100000: give the sets, maps and texts that it reads a smaller "
                + "\"max\""
        ),
    ])
    func `a rule that cannot be judged is refused with its position and a remedy`(_ condition: String, _ reason: String)
    {
        #expect(error(condition) == "rule it: \(reason)")
    }

    @Test func `the keys of a rule are checked`() {
        #expect(error("after.paid", #", "on": ["update"]"#)?.contains(#""on" cannot be update"#) == true)
        #expect(error("after.paid", #", "on": []"#)?.contains("names no operation") == true)
        #expect(error("after.paid", #", "when": 1"#) == #"unknown key "when""#)
        #expect(
            error("before.paid", #", "on": ["change", "delete"], "services": true, "message": "Pay first."}"#) != nil)
    }

    @Test func `a rule reads a renamed field under each of its names`() throws {
        let document = #"""
            {"tidemark": 1, "collections": {"jobs": {"scope": {"shared": "all"},
              "fields": {"phase": {"type": "string", "required": true, "was": "status"}},
              "rules": [{"name": "phase", "if": "after.phase != 'lost' || has(after.phase) && role == 'admin'"}]}}}
            """#
        let schema = try Schema(json: Array(document.utf8))
        let rule = try #require(schema.stored.collection("jobs")?.rules.first)
        #expect(rule.expression.text == "after.status != 'lost' || has(after.status) && role == 'admin'")
        #expect(schema.collection("jobs") != schema.stored.collection("jobs"))
    }
}
