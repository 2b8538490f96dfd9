import Testing
import TidemarkModel
import TidemarkStore

@Suite struct `Ids that are made of names` {
    private let pair = DerivedID.make(["pair", "ann", "bob"])

    private func desk() throws -> Desk {
        var desk = Desk()
        try desk.register(1, "ann")
        try desk.register(2, "bob")
        try desk.register(3, "eve")
        return desk
    }

    private func open(_ members: FieldValue) -> Mutation { open(pair, members) }

    private func open(_ id: UniqueID, _ members: FieldValue) -> Mutation {
        Mutation(key: RecordKey(collection: "pairs", id: id), action: .create(["members": members]))
    }

    private func change(_ patch: FieldPatch, of id: UniqueID? = nil) -> Mutation {
        Mutation(
            key: RecordKey(collection: "pairs", id: id ?? pair), action: .update([NamedPatch("members", patch)]))
    }

    @Test func `only the users whose names make an id can create its record, with these names`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "eve", 1, open(["ann", "bob", "eve"])) == .forbidden)
        #expect(try desk.settle(3, "eve", 2, open(["eve"])) == .forbidden)
        #expect(try desk.settle(3, "eve", 3, open(["ann", "bob"])) == .invalid)
        #expect(try desk.settle(1, "ann", 1, open(["ann", "bob"])) == nil)
        #expect(try desk.settle(2, "bob", 1, open(["ann", "bob"])) == .idConflict)
        #expect(try desk.settle(3, "eve", 4, open(["ann", "bob", "eve"])) == .forbidden)
        let second = DerivedID.make(["pair", "ann", "bob"], candidate: 1)
        #expect(try desk.settle(3, "eve", 5, open(second, ["eve", "ann", "bob"])) == .forbidden)
        #expect(try desk.settle(2, "bob", 2, open(second, ["bob", "ann"])) == nil)
    }

    @Test func `a random id is free in the same collection, and its members may change`() throws {
        var desk = try desk()
        let group = UniqueID.version7(milliseconds: 1, random: (1, 2))
        #expect(try desk.settle(1, "ann", 1, open(group, ["ann", "bob"])) == nil)
        #expect(try desk.settle(1, "ann", 2, change(.add(["eve"]), of: group)) == nil)
    }

    @Test func `the values that make an id never change, and the rest does`() throws {
        var desk = try desk()
        #expect(try desk.settle(1, "ann", 1, open(["ann", "bob"])) == nil)
        #expect(try desk.settle(1, "ann", 2, change(.add(["eve"]))) == .forbidden)
        #expect(try desk.settle(2, "bob", 1, change(.remove(["ann"]))) == .forbidden)
        #expect(try desk.settle(2, "bob", 2, change(.add(["ann"]))) == nil)
        let title = NamedPatch("title", .set("us"))
        let rename = Mutation(key: RecordKey(collection: "pairs", id: pair), action: .update([title]))
        #expect(try desk.settle(2, "bob", 3, rename) == nil)
        #expect(desk.tables.session(for: UserID("eve"), client: nil, in: Desk.workspace).grants.isEmpty)
    }

    @Test func `a record cannot be restored with names that do not make its id`() throws {
        var desk = try desk()
        let key = RecordKey(collection: "pairs", id: pair)
        #expect(try desk.settle(1, "ann", 1, open(["ann", "bob"])) == nil)
        #expect(try desk.settle(1, "ann", 2, Mutation(key: key, action: .delete)) == nil)
        let wider = Mutation(key: key, action: .undelete(["members": ["ann", "bob", "eve"]]))
        #expect(try desk.settle(1, "ann", 3, wider) == .forbidden)
        #expect(
            try desk.settle(1, "ann", 4, Mutation(key: key, action: .undelete(["members": ["ann", "bob"]]))) == nil)
    }

    @Test func `no other user can create what a user writes about themselves`() throws {
        var desk = try desk()
        let room = Desk.mutation("rooms", 1, .create(["members": ["ann", "bob"]]))
        #expect(try desk.settle(1, "ann", 1, room) == nil)
        let text = Desk.id(1).description
        let id = DerivedID.make(["marks", text, "ann"])
        let mark = Mutation(
            key: RecordKey(collection: "marks", id: id), action: .create(["room": .string(text), "seen": 1]))
        #expect(try desk.settle(2, "bob", 1, mark) == .forbidden)
        #expect(try desk.settle(1, "ann", 2, mark) == nil)
        let raise = Mutation(key: mark.key, action: .update([NamedPatch("seen", .max(2))]))
        #expect(try desk.settle(1, "ann", 3, raise) == nil)
    }

    @Test func `a service is exempt, and its record is no pair that must stay one`() throws {
        var desk = try desk()
        #expect(try desk.settle(3, "eve", 1, isService: true, open(["ann", "bob", "eve"])) == nil)
        #expect(try desk.settle(1, "ann", 1, change(.remove(["eve"]))) == nil)
        // Now it is a pair.
        #expect(try desk.settle(1, "ann", 2, change(.add(["eve"]))) == .forbidden)
    }

    private func good(_ sku: String, under id: UniqueID? = nil, _ name: FieldValue = "pin") -> Mutation {
        Mutation(
            key: RecordKey(collection: "goods", id: id ?? DerivedID.make(["good", sku])),
            action: .create(["sku": .string(sku), "name": name]))
    }

    @Test func `a record with a key has the id that the key makes, whichever user writes it`() throws {
        var desk = try desk()
        let chance = UniqueID.version7(milliseconds: 1, random: (1, 2))
        #expect(try desk.settle(1, "ann", 1, good("a", under: chance)) == .forbidden)
        #expect(try desk.settle(1, "ann", 2, good("a", under: DerivedID.make(["good", "b"]))) == .forbidden)
        #expect(
            try desk.settle(1, "ann", 3, good("a", under: DerivedID.make(["good", "a"], candidate: 1))) == .forbidden)
        #expect(try desk.settle(3, "eve", 1, isService: true, good("a", under: chance)) == .forbidden)
        #expect(try desk.settle(1, "ann", 4, good("")) == .invalid)
        #expect(try desk.settle(1, "ann", 5, good(String(repeating: "k", count: 129))) == .invalid)
        #expect(try desk.settle(1, "ann", 6, good("a")) == nil)
        let key = good("a").key
        let other = Mutation(key: key, action: .update([NamedPatch("sku", .set("b"))]))
        #expect(try desk.settle(3, "eve", 2, isService: true, other) == .invalid)
        #expect(try desk.settle(1, "ann", 7, Mutation(key: key, action: .delete)) == nil)
        let back = Mutation(key: key, action: .undelete(["sku": "b"]))
        #expect(try desk.settle(3, "eve", 3, isService: true, back) == .forbidden)
        #expect(try desk.settle(1, "ann", 8, good("a")) == .gone)
        #expect(try desk.settle(1, "ann", 9, Mutation(key: key, action: .undelete(["sku": "a"]))) == nil)
    }

    @Test func `of two creations of one key the second is refused, unless it is a repetition`() throws {
        var desk = try desk()
        #expect(try desk.settle(1, "ann", 1, good("a", "pin")) == nil)
        #expect(try desk.settle(2, "bob", 1, good("a", "pin")) == .idConflict)
        #expect(try desk.settle(1, "ann", 2, good("a", "pin")) == nil)
        // Another device of the same user.
        try desk.register(4, "ann")
        #expect(try desk.settle(4, "ann", 1, good("a", "nail")) == .idConflict)
        // If ids are no keys, the author's second creation has no effect, as before.
        let pairs = [open(["ann", "bob"]), open(["ann", "bob"])]
        #expect(try pairs.enumerated().map { try desk.settle(1, "ann", Int64($0 + 3), $1) } == [nil, nil])
    }
}
