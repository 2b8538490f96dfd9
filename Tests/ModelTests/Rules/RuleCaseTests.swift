import Testing
import TidemarkModel

@Suite struct RuleCaseTests {
    private let orders: CollectionSchema

    init() throws {
        let document = #"""
            {"tidemark": 1, "collections": {"orders": {"scope": {"shared": "all"}, "fields": {
                "sender": {"type": "string", "required": true}, "status": {"type": "string", "default": "booked"},
                "total": {"type": "double", "required": true}, "deposit": {"type": "double", "default": 0},
                "tags": "set"},
              "rules": [
                {"name": "sender", "on": ["create"], "if": "after.sender == user", "message": "One's own name."},
                {"name": "deposit", "if": "after.deposit <= after.total"},
                {"name": "closed", "on": ["change", "delete"],
                 "if": "before.status != 'collected' || role in ['admin', 'owner']", "message": "The order is closed."},
                {"name": "share", "if": "after.deposit / after.total <= 0.5 || size(after.tags) / size(after.tags) == 1"},
                {"name": "frozen", "if": "now < 2000000000000", "services": true}]}}}
            """#
        orders = try #require(try Schema(json: Array(document.utf8)).collection("orders"))
    }

    private func refusal(
        _ before: Fields?, _ after: Fields?, user: UserID = UserID("ann"), _ change: (inout RuleCase) -> Void = { _ in }
    ) -> String? {
        var record = RuleCase(before: before, after: after, user: user, author: UserID("ann"))
        record.role = "member"
        record.now = 1_760_000_000_000
        change(&record)
        do throws(Rejection) {
            try orders.judge(record)
            return nil
        } catch {
            return "\(error.code.rawValue) \(error.message)"
        }
    }

    @Test func `the first broken rule refuses, with its name and message`() {
        #expect(refusal(nil, ["sender": "ann", "total": 10.0]) == nil)
        #expect(refusal(nil, ["sender": "bob", "total": 10.0]) == "rule orders: sender: One's own name.")
        #expect(
            refusal(nil, ["sender": "ann", "total": 10.0, "deposit": 11.0])
                == "rule orders: deposit: the record must keep: after.deposit <= after.total")
    }

    @Test func `a rule judges the operations that it names`() {
        let order: Fields = ["sender": "bob", "total": 10.0, "status": "collected"]
        #expect(refusal(order, order) == "rule orders: closed: The order is closed.")
        #expect(refusal(order, nil) == "rule orders: closed: The order is closed.")
        #expect(refusal(order, nil) { $0.role = "admin" } == nil)
        #expect(refusal(["sender": "bob", "total": 10.0], nil) == nil)
        #expect(refusal(nil, nil) == nil)
        #expect(
            refusal(nil, order, user: UserID("ann")) { $0.wasDeleted = true } == "rule orders: sender: One's own name.")
    }

    @Test func `an error breaks the rule and is named`() {
        #expect(
            refusal(nil, ["sender": "ann", "total": 10.0, "deposit": 9.0])
                == "rule orders: share: the record must keep: after.deposit / after.total <= 0.5 || size(after.tags) / "
                + "size(after.tags) == 1 (a number is divided by zero)")
        #expect(refusal(nil, ["sender": "ann", "total": 10.0, "deposit": 9.0, "tags": ["a"]]) == nil)
    }

    @Test func `a value that is not known here leaves the rule to the server`() {
        let order: Fields = ["sender": "bob", "total": 10.0, "status": "collected"]
        #expect(refusal(order, order) { $0.role = nil } == nil)
        #expect(refusal(order, order) { $0.now = nil } == "rule orders: closed: The order is closed.")
    }

    @Test func `services pass all rules but those that bind them`() {
        let order: Fields = ["sender": "bob", "total": 1.0, "deposit": 2.0]
        #expect(refusal(nil, order) { $0.isService = true } == nil)
        let late = refusal(nil, order) {
            $0.isService = true
            $0.now = 2_000_000_000_000
        }
        #expect(late == "rule orders: frozen: the record must keep: now < 2000000000000")
    }
}
