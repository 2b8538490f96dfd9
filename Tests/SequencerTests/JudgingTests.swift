import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkSequencer

/// Constraints of fields, judged at the end of a transaction (R-156). The fields are those of `tickets` in `Desk`.
@Suite struct JudgingTests {
    private func desk() throws -> Desk {
        var desk = Desk()
        for (number, user) in ["ann", "bob", "cem"].enumerated() { try desk.register(UInt64(number + 1), user) }
        let club: Fields = ["members": ["ann", "bob", "cem"], "admins": ["bob"]]
        #expect(try desk.settle(1, "ann", 1, Desk.mutation("clubs", 1, .create(club))) == nil)
        return desk
    }

    private func ticket(_ id: UInt64, _ fields: Fields = [:]) -> Mutation {
        var fields = fields
        fields["room"] = .string(Desk.id(1).description)
        return Desk.mutation("tickets", id, .create(fields))
    }

    private func set(_ id: UInt64, _ field: String, _ value: FieldValue) -> Mutation {
        Desk.mutation("tickets", id, .update([NamedPatch(field, .set(value))]))
    }

    private func phase(_ id: UInt64, _ value: String) -> Mutation { set(id, "phase", .string(value)) }

    @Test func `a value outside is refused at the creation and at a change, and leaves no trace`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "cem", 1, ticket(10, ["price": -1])) == .invalid)
        #expect(!desk.tables.records(in: Desk.workspace).contains { $0.key.collection == "tickets" })
        #expect(try desk.settle(3, "cem", 2, ticket(10, ["price": 5])) == nil)
        #expect(try desk.settle(3, "cem", 3, set(10, "price", -1)) == .invalid)
        #expect(try desk.settle(3, "cem", 4, set(10, "price", 0)) == nil)
        #expect(try desk.settle(3, "cem", 5, isService: true, set(10, "price", -1)) == .invalid)
        #expect(
            try desk.settle(3, "cem", 6, Desk.mutation("tickets", 10, .update([NamedPatch("price", .unset)]))) == nil)
    }

    @Test func `a counter is judged after merging`() throws {
        var desk = try desk()
        func add(_ step: Int64) -> Mutation {
            Desk.mutation("tickets", 10, .update([NamedPatch("stock", .increment(.integer(step)))]))
        }
        #expect(try desk.settle(3, "cem", 1, ticket(10, ["stock": 2])) == nil)
        #expect(try desk.settle(3, "cem", 2, add(-2)) == nil)
        #expect(try desk.settle(1, "ann", 2, add(-1)) == .invalid)
        // Below zero in between, and at zero in the end.
        #expect(try desk.settle(1, "ann", 3, add(-1), add(1)) == nil)
    }

    @Test func `a step is judged in the order of commits, and a transaction is one step`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "cem", 1, ticket(10, ["phase": "ready"])) == .invalid)
        #expect(try desk.settle(3, "cem", 2, ticket(10, ["phase": "booked"])) == nil)
        #expect(try desk.settle(3, "cem", 3, phase(10, "repairing")) == nil)
        #expect(try desk.settle(1, "ann", 2, phase(10, "cancelled")) == .invalid)
        #expect(try desk.settle(1, "ann", 3, phase(10, "repairing")) == nil)
        #expect(try desk.settle(1, "ann", 4, phase(10, "ready"), phase(10, "collected")) == .invalid)
        #expect(try desk.settle(1, "ann", 5, phase(10, "ready"), phase(10, "repairing")) == nil)
        #expect(try desk.settle(3, "cem", 4, ticket(11, ["phase": "booked"]), phase(11, "repairing")) == .invalid)
        #expect(try desk.settle(3, "cem", 5, ticket(11, ["phase": "booked"])) == nil)
        #expect(
            try desk.settle(3, "cem", 6, Desk.mutation("tickets", 11, .update([NamedPatch("phase", .unset)])))
                == .invalid)
    }

    @Test func `several submissions of one batch are judged one after the other`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "cem", 1, ticket(10, ["phase": "booked"])) == nil)
        let submissions = [
            desk.submission(3, "cem", first: 2, [(id: 901, [phase(10, "repairing")])]),
            desk.submission(1, "ann", first: 2, [(id: 902, [phase(10, "cancelled")])]),
            desk.submission(2, "bob", first: 1, [(id: 903, [phase(10, "ready")])]),
        ]
        let plan = try desk.sequence(submissions)
        #expect(plan.outcomes.map(\.firstRefusal) == [nil, .invalid, nil])
    }

    @Test func `a step for admins is theirs and the services'`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "cem", 1, ticket(10, ["phase": "booked"])) == nil)
        for (number, next) in ["repairing", "ready"].enumerated() {
            #expect(try desk.settle(3, "cem", Int64(number + 2), phase(10, next)) == nil)
        }
        #expect(try desk.settle(3, "cem", 4, phase(10, "collected")) == .forbidden)
        #expect(try desk.settle(2, "bob", 1, phase(10, "collected")) == nil)
        // Services take every listed step, and no other one.
        #expect(try desk.settle(2, "bob", 2, isService: true, phase(10, "booked")) == .invalid)
        #expect(try desk.settle(2, "bob", 3, phase(10, "ready")) == .forbidden)
        #expect(try desk.settle(2, "bob", 4, isService: true, phase(10, "ready")) == nil)
        #expect(try desk.settle(2, "bob", 5, isService: true, phase(10, "collected")) == nil)
    }

    @Test func `a restore goes on from the deleted values, in one transaction and in two`() throws {
        var desk = try desk()
        func restore(_ phase: FieldValue) -> Mutation {
            Desk.mutation(
                "tickets", 10,
                .undelete(["room": .string(Desk.id(1).description), "phase": phase, "kind": "a"]))
        }
        let deletion = Desk.mutation("tickets", 10, .delete)
        #expect(try desk.settle(3, "cem", 1, ticket(10, ["phase": "booked", "kind": "a"])) == nil)
        #expect(try desk.settle(3, "cem", 2, phase(10, "repairing")) == nil)
        #expect(try desk.settle(3, "cem", 3, deletion, restore("booked")) == .invalid)
        #expect(try desk.settle(3, "cem", 4, deletion, restore("repairing")) == nil)
        #expect(try desk.settle(3, "cem", 5, deletion) == nil)
        #expect(try desk.settle(3, "cem", 6, restore("booked")) == .invalid)
        #expect(try desk.settle(3, "cem", 7, restore(.null)) == .invalid)
        #expect(try desk.settle(3, "cem", 8, restore("ready")) == nil)
    }

    @Test func `a record from before the constraint stays, and is judged when the field changes`() throws {
        var desk = try desk()
        let earlier = Desk.document.replacing(
            #""price": {"type": "integer", "minimum": 0}"#, with: #""price": "integer""#)
        desk.schema = try Schema(json: Array(earlier.utf8))
        #expect(try desk.settle(3, "cem", 1, ticket(10, ["price": -5, "status": "a"])) == nil)
        desk.schema = Desk.schema
        #expect(try desk.settle(3, "cem", 2, set(10, "status", "b")) == nil)
        #expect(try desk.settle(3, "cem", 3, set(10, "price", -5), set(10, "status", "c")) == nil)
        #expect(try desk.settle(3, "cem", 4, set(10, "price", -4)) == .invalid)
        #expect(try desk.settle(3, "cem", 5, set(10, "price", 4)) == nil)
    }

    @Test func `a repeated create is a success, even if the record has moved on`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "cem", 1, ticket(10, ["phase": "booked"])) == nil)
        #expect(try desk.settle(3, "cem", 2, phase(10, "repairing")) == nil)
        #expect(try desk.settle(3, "cem", 3, ticket(10, ["phase": "booked"])) == nil)
    }
}
