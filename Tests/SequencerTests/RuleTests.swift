import Testing
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

/// The rules of the schema, judged at the end of each transaction.
@Suite struct RuleTests {
    private func desk() throws -> Desk {
        var desk = Desk()
        for (number, user) in ["ann", "bob", "cem"].enumerated() { try desk.register(UInt64(number + 1), user) }
        let club: Fields = ["members": ["ann", "bob", "cem"], "admins": ["bob"]]
        #expect(try desk.settle(1, "ann", 1, Desk.mutation("clubs", 1, .create(club))) == nil)
        return desk
    }

    private func order(_ id: UInt64, _ fields: Fields = [:]) -> Mutation {
        var order: Fields = [
            "room": .string(Desk.id(1).description), "status": "booked", "seller": "cem", "total": 10,
        ]
        for entry in fields.entries { order[entry.name] = entry.value }
        return Desk.mutation("orders", id, .create(order))
    }

    private func change(_ id: UInt64, _ field: String, _ value: FieldValue) -> Mutation {
        Desk.mutation("orders", id, .update([NamedPatch(field, .set(value))]))
    }

    @Test func `a create that breaks a rule is refused with its name and message, and leaves no trace`() throws {
        var desk = try desk()
        let plan = try desk.sequence([
            desk.submission(3, "cem", first: 1, [(id: 1, mutations: [order(10), order(11, ["seller": "ann"])])])
        ])
        guard case .settled(_, let results)? = plan.outcomes.first else { throw TestFailure() }
        let refusal = try #require(results.first?.rejection)
        #expect(refusal == Rejection(.rule, "orders: seller: Sell in your own name."))
        #expect(
            refusal.brokenRule
                == BrokenRule(refusal: "orders: seller: Sell in your own name.") && refusal.brokenRule?.name == "seller"
        )
        #expect(plan.batch?.records.isEmpty == true)
        #expect(try desk.settle(3, "cem", 2, order(10)) == nil)
    }

    @Test func `a transaction is judged by the state that it leaves`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "cem", 1, order(10)) == nil)
        #expect(try desk.settle(3, "cem", 2, change(10, "deposit", 20)) == .rule)
        #expect(try desk.settle(3, "cem", 3, change(10, "deposit", 20), change(10, "total", 30)) == nil)
        #expect(try desk.settle(3, "cem", 4, change(10, "total", 19)) == .rule)
    }

    @Test func `a transaction is judged by the state before it, which is that of the order`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "cem", 1, order(10)) == nil)
        // Two devices, one batch: the first one collects, so the second one comes too late.
        let plan = try desk.sequence([
            desk.submission(1, "ann", first: 2, [(id: 1, mutations: [change(10, "status", "collected")])]),
            desk.submission(3, "cem", first: 2, [(id: 2, mutations: [change(10, "total", 11)])]),
        ])
        #expect(plan.outcomes.map(\.firstRefusal) == [nil, .rule])
        #expect(try desk.settle(3, "cem", 3, Desk.mutation("orders", 10, .delete)) == .rule)
        #expect(try desk.settle(3, "cem", 4, change(10, "status", "booked"), change(10, "total", 12)) == .rule)
        #expect(try desk.settle(2, "bob", 1, change(10, "total", 12)) == nil)
        #expect(try desk.settle(2, "bob", 2, Desk.mutation("orders", 10, .delete)) == nil)
    }

    @Test func `a restore is judged like a creation, and a delete with a restore like a change`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "cem", 1, order(10)) == nil)
        guard case .create(let fields) = order(10).action else { throw TestFailure() }
        let restore = Desk.mutation("orders", 10, .undelete(fields))
        #expect(try desk.settle(1, "ann", 2, Desk.mutation("orders", 10, .delete), restore) == nil)
        #expect(try desk.settle(1, "ann", 3, Desk.mutation("orders", 10, .delete)) == nil)
        #expect(try desk.settle(1, "ann", 4, restore) == .rule)
        #expect(try desk.settle(3, "cem", 2, restore) == nil)
    }

    @Test func `the role is that before the transaction, and that of a new scope's creator is the owner's`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "cem", 1, order(10, ["status": "collected"])) == nil)
        let promote = Desk.mutation("clubs", 1, .update([NamedPatch("admins", .add(["cem"]))]))
        #expect(try desk.settle(2, "bob", 1, promote) == nil)
        #expect(try desk.settle(3, "cem", 2, change(10, "total", 5)) == nil)
    }

    @Test func `a service passes all rules but those that bind it`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "cem", 1, isService: true, order(10, ["seller": "ann", "deposit": 99])) == nil)
        desk.now = 10
        var early = Desk()
        early.now = 10
        try early.register(1, "ann")
        let club: Fields = ["members": ["ann"]]
        #expect(try early.settle(1, "ann", 1, Desk.mutation("clubs", 1, .create(club))) == nil)
        #expect(try early.settle(1, "ann", 2, isService: true, order(10)) == .rule)
    }
}

private struct TestFailure: Error {}
