import Testing
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

/// Fields at the creation, the last member, and references within a scope.
@Suite struct ConstraintTests {
    private let room = Desk.id(1).description

    private func desk() throws -> Desk {
        var desk = Desk()
        for (number, user) in ["ann", "bob", "cem"].enumerated() { try desk.register(UInt64(number + 1), user) }
        for id in [1, 2] as [UInt64] {
            let club: Fields = ["members": ["ann", "bob", "cem"], "admins": ["bob"]]
            #expect(try desk.settle(1, "ann", Int64(id), Desk.mutation("clubs", id, .create(club))) == nil)
        }
        return desk
    }

    private func ticket(_ id: UInt64, _ fields: Fields = [:], in room: UInt64 = 1) -> Mutation {
        var fields = fields
        fields["room"] = .string(Desk.id(room).description)
        return Desk.mutation("tickets", id, .create(fields))
    }

    // MARK: Fields at the creation

    @Test func `a field's list of users who may change it applies at the creation as well`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "cem", 1, ticket(10, ["grade": 999])) == .forbidden)
        #expect(try desk.settle(2, "bob", 1, ticket(10, ["grade": 999])) == nil)
        // A model has a value for every property: a default value is treated as no value.
        #expect(try desk.settle(3, "cem", 2, ticket(11, ["grade": 0])) == nil)
        #expect(try desk.settle(3, "cem", 3, isService: true, ticket(12, ["grade": 5])) == nil)
    }

    @Test func `create names who may set a field at the creation, if others may change it`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "cem", 1, ticket(10, ["stamp": 1])) == nil)
        let stamp = Desk.mutation("tickets", 10, .update([NamedPatch("stamp", .set(2))]))
        #expect(try desk.settle(3, "cem", 2, stamp) == .forbidden)
        // The user who opens a scope is its owner.
        let club: Fields = ["members": ["cem"], "admins": ["cem"], "title": "go"]
        #expect(try desk.settle(3, "cem", 3, Desk.mutation("clubs", 3, .create(club))) == nil)
    }

    // MARK: The last member

    private func members(_ patch: FieldPatch) -> Mutation {
        Desk.mutation("clubs", 1, .update([NamedPatch("members", patch)]))
    }

    @Test func `the last member stays, or deletes the scope`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "cem", 1, members(.remove(["ann", "bob", "cem"]))) == .invalid)
        #expect(try desk.settle(3, "cem", 2, members(.remove(["ann", "bob"]))) == nil)
        #expect(try desk.settle(3, "cem", 3, members(.remove(["cem"]))) == .invalid)
        #expect(try desk.settle(3, "cem", 4, Desk.mutation("clubs", 1, .delete)) == nil)
        #expect(
            try desk.settle(
                1, "ann", 3, isService: true,
                Desk.mutation(
                    "clubs", 2,
                    .update([
                        NamedPatch("members", .remove(["ann", "bob", "cem"]))
                    ]))) == nil)
    }

    // MARK: References

    @Test func `a reference within the scope names a record of the same scope`() throws {
        var desk = try desk()
        let parent = Desk.id(10).description
        #expect(try desk.settle(3, "cem", 1, ticket(11, ["parent": .string(parent)])) == .notFound)
        #expect(try desk.settle(3, "cem", 2, ticket(10), ticket(12, ["parent": .string(parent)])) == nil)
        #expect(try desk.settle(3, "cem", 3, ticket(13, ["parent": .string(parent)], in: 2)) == .notFound)
        #expect(
            try desk.settle(3, "cem", 4, isService: true, ticket(13, ["parent": .string(parent)], in: 2)) == .notFound)
        #expect(try desk.settle(3, "cem", 5, ticket(14, in: 2)) == nil)
        func hang(_ id: UInt64, on parent: UInt64) -> Mutation {
            Desk.mutation("tickets", id, .update([NamedPatch("parent", .set(.string(Desk.id(parent).description)))]))
        }
        #expect(try desk.settle(3, "cem", 6, hang(12, on: 14)) == .notFound)
        #expect(try desk.settle(3, "cem", 7, hang(12, on: 12)) == nil)
        // A deleted record existed: its children stay, and may be written.
        #expect(try desk.settle(3, "cem", 8, Desk.mutation("tickets", 10, .delete), hang(12, on: 10)) == nil)
    }

    @Test func `a record that a group of submissions creates can be referred to in the same group`() throws {
        var desk = try desk()
        let parent = FieldValue.string(Desk.id(10).description)
        let plan = try desk.sequence([
            desk.submission(2, "bob", first: 1, [(501, [ticket(10)])]),
            desk.submission(3, "cem", first: 1, [(502, [ticket(11, ["parent": parent])])]),
        ])
        #expect(plan.outcomes.map(\.firstRefusal) == [nil, nil])
        // A creation that is refused leaves nothing to refer to, and nothing in memory is believed about it.
        let next = try desk.sequence([
            desk.submission(2, "bob", first: 2, [(503, [ticket(20, ["sum": 1])])]),
            desk.submission(3, "cem", first: 2, [(504, [ticket(21, ["parent": .string(Desk.id(20).description)])])]),
        ])
        #expect(next.outcomes.map(\.firstRefusal) == [.invalid, .notFound])
    }
}
