import Testing
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

@Suite struct `Access inside the order` {
    private func room(_ members: FieldValue) -> Mutation {
        Desk.mutation("rooms", 1, .create(["members": members]))
    }

    private func note(_ id: UInt64, _ fields: Fields = [:]) -> Mutation {
        var fields = fields
        fields["room"] = .string(Desk.id(1).description)
        return Desk.mutation("notes", id, .create(fields))
    }

    private func desk() throws -> Desk {
        var desk = Desk()
        try desk.register(1, "ann")
        try desk.register(2, "bob")
        try desk.register(3, "eve")
        #expect(try desk.settle(1, "ann", 1, room(["ann", "bob"])) == nil)
        return desk
    }

    @Test func `members write, a stranger is refused and cannot tell what exists`() throws {
        var desk = try desk()
        #expect(try desk.settle(2, "bob", 1, note(10, ["text": "hi"])) == nil)
        #expect(try desk.settle(3, "eve", 1, note(11)) == .forbidden)
        let hidden = Desk.mutation("notes", 10, .update([NamedPatch("likes", .increment(1))]))
        let absent = Desk.mutation("notes", 99, .update([NamedPatch("likes", .increment(1))]))
        #expect(try desk.settle(3, "eve", 2, hidden) == .notFound)
        #expect(try desk.settle(3, "eve", 3, absent) == .notFound)
        #expect(try desk.settle(3, "eve", 4, Desk.mutation("notes", 10, .delete)) == .notFound)
        #expect(try desk.settle(3, "eve", 5, note(10)) == .forbidden)
    }

    @Test func `a write ordered after the removal is refused, one before it takes effect`() throws {
        var desk = try desk()
        #expect(try desk.settle(2, "bob", 1, note(10)) == nil)
        let removal = Desk.mutation("rooms", 1, .update([NamedPatch("members", .remove(["bob"]))]))
        #expect(try desk.settle(1, "ann", 2, removal) == nil)
        #expect(try desk.settle(2, "bob", 2, note(11)) == .forbidden)
        let again = Desk.mutation("rooms", 1, .update([NamedPatch("members", .add(["bob"]))]))
        #expect(try desk.settle(1, "ann", 3, again) == nil)
        #expect(try desk.settle(2, "bob", 3, note(12)) == nil)
        let grants = desk.tables.session(for: UserID("bob"), client: nil, in: Desk.workspace).grants
        // 1 room, 2 note, 3 removal, 4 the refusal's batch, 5 the new grant.
        #expect(grants.map(\.since) == [5])
    }

    @Test func `grants follow the order within one batch too`() throws {
        var desk = try desk()
        let planned = try desk.sequence([
            desk.submission(
                1, "ann", first: 2,
                [(500, [Desk.mutation("rooms", 1, .update([NamedPatch("members", .add(["eve"]))]))])]),
            desk.submission(3, "eve", first: 1, [(501, [note(20)])]),
            desk.submission(
                1, "ann", first: 3,
                [(502, [Desk.mutation("rooms", 1, .update([NamedPatch("members", .remove(["eve"]))]))])]),
            desk.submission(3, "eve", first: 2, [(503, [note(21)])]),
        ])
        let codes = planned.outcomes.map(\.firstRefusal)
        #expect(codes == [nil, nil, nil, .forbidden])
        #expect(planned.batch?.memberships.map(\.role) == [.member, nil])
    }

    @Test func `authors change their own text, others only what the field allows, admins delete`() throws {
        var desk = try desk()
        #expect(try desk.settle(2, "bob", 1, note(10, ["text": "hi"])) == nil)
        let text = Desk.mutation("notes", 10, .update([NamedPatch("text", .set("ho"))]))
        let like = Desk.mutation("notes", 10, .update([NamedPatch("likes", .increment(1))]))
        #expect(try desk.settle(1, "ann", 2, text) == .forbidden)
        #expect(try desk.settle(1, "ann", 3, like) == nil)
        #expect(try desk.settle(2, "bob", 2, text) == nil)
        #expect(try desk.settle(1, "ann", 4, Desk.mutation("notes", 10, .delete)) == nil)
        #expect(try desk.settle(2, "bob", 3, text) == .gone)
    }

    @Test func `a scope's creator must be among its members, unless it is a service`() throws {
        var desk = try desk()
        let empty = Desk.mutation("rooms", 2, .create(["members": ["bob"]]))
        #expect(try desk.settle(1, "ann", 2, empty) == .invalid)
        #expect(try desk.settle(1, "ann", 3, isService: true, empty) == nil)
        #expect(desk.tables.session(for: UserID("bob"), client: nil, in: Desk.workspace).grants.count == 2)
    }

    @Test func `a deleted scope ends every membership and nothing in it can be written`() throws {
        var desk = try desk()
        #expect(try desk.settle(2, "bob", 1, Desk.mutation("rooms", 1, .delete)) == .forbidden)
        #expect(try desk.settle(1, "ann", 2, Desk.mutation("rooms", 1, .delete)) == nil)
        #expect(try desk.settle(2, "bob", 2, note(10)) == .forbidden)
        #expect(desk.tables.session(for: UserID("bob"), client: nil, in: Desk.workspace).grants.isEmpty)
    }

    @Test func `shared scopes are open to everyone, records in them to their authors`() throws {
        var desk = try desk()
        let card = Desk.mutation("people", 30, .create(["name": "Eve"]))
        let rename = Desk.mutation("people", 30, .update([NamedPatch("name", .set("Mallory"))]))
        #expect(try desk.settle(3, "eve", 1, card) == nil)
        #expect(try desk.settle(1, "ann", 2, rename) == .forbidden)
        #expect(try desk.settle(3, "eve", 2, rename) == nil)
    }
}
