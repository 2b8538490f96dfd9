import Testing
import TidemarkModel
import TidemarkStore

/// Transactions judged over each store: the results must not depend on what a store reads.
@Suite struct JudgingTests {
    @Test(arguments: StoreKind.available)
    func `a user who may not create gets the same answer for existing and missing ids`(_ kind: StoreKind)
        async throws
    {
        try await kind.withStore { under in
            let registry = try Registry(under)
            let (ann, eve) = (try await registry.client(1, of: .ann), try await registry.client(2, of: UserID("eve")))
            let bob = try await registry.client(3, of: .bob)
            #expect(try await ann.push(1, .room(1, ["members": ["ann", "bob"]])) == nil)
            #expect(try await ann.push(2, .note(10, in: 1)) == nil)
            // A stranger, and a member who may not create.
            for (client, first) in [(eve, Int64(1)), (bob, 1)] {
                #expect(try await client.push(first, .note(10, in: 1)) == .forbidden)
                #expect(try await client.push(first + 1, .note(99, in: 1)) == .forbidden)
            }
            // The same for a room that does not list its creator.
            #expect(try await eve.push(3, .room(1, ["members": ["ann"]])) == .invalid)
            #expect(try await eve.push(4, .room(2, ["members": ["ann"]])) == .invalid)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a user who may create learns that an id is taken, and its author that the record exists`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            let registry = try Registry(under)
            let (ann, bob) = (try await registry.client(1, of: .ann), try await registry.client(2, of: .bob))
            #expect(try await ann.push(1, .room(1, ["members": ["ann", "bob"], "admins": ["bob"]])) == nil)
            #expect(try await ann.push(2, .note(10, in: 1)) == nil)
            #expect(try await bob.push(1, .note(10, in: 1)) == .idConflict)
            #expect(try await ann.push(3, .note(10, in: 1)) == nil)
            #expect(try await bob.push(2, .room(1, ["members": ["bob"]])) == .idConflict)
        }
    }

    @Test(arguments: StoreKind.available)
    func `an author who may no longer create repeats in vain`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let registry = try Registry(under)
            let (ann, bob) = (try await registry.client(1, of: .ann), try await registry.client(2, of: .bob))
            #expect(try await ann.push(1, .room(1, ["members": ["ann", "bob"], "admins": ["bob"]])) == nil)
            #expect(try await bob.push(1, .note(10, in: 1)) == nil)
            #expect(try await ann.push(2, .room(1, NamedPatch("admins", .remove(["bob"])))) == nil)
            #expect(try await bob.push(2, .note(10, in: 1)) == .forbidden)
        }
    }

    @Test(arguments: StoreKind.available)
    func `an admin who is made a member again is stored as one, with the old beginning`(_ kind: StoreKind) async throws
    {
        try await kind.withStore { under in
            let registry = try Registry(under)
            let (ann, bob) = (try await registry.client(1, of: .ann), try await registry.client(2, of: .bob))
            #expect(try await ann.push(1, .room(1, ["members": ["ann", "bob"], "admins": ["bob"]])) == nil)
            let room = ScopeID(record: .numbered(1))
            #expect(try await registry.grants(.bob) == [Grant(scope: room, since: 1, role: .admin)])
            #expect(try await ann.push(2, .room(1, NamedPatch("admins", .remove(["bob"])))) == nil)
            #expect(try await registry.grants(.bob) == [Grant(scope: room, since: 1, role: .member)])
            #expect(try await bob.push(1, .note(10, in: 1)) == .forbidden)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a member removed and added in one transaction has a new membership`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let registry = try Registry(under)
            let ann = try await registry.client(1, of: .ann)
            #expect(try await ann.push(1, .room(1, ["members": ["ann", "bob"]])) == nil)
            let out = Mutation.room(1, NamedPatch("members", .remove(["bob"])))
            let back = Mutation.room(1, NamedPatch("members", .add(["bob"])))
            #expect(try await ann.push(2, out, back) == nil)
            let room = ScopeID(record: .numbered(1))
            #expect(try await registry.grants(.bob) == [Grant(scope: room, since: 3, role: .member)])
        }
    }

    @Test(arguments: StoreKind.available)
    func `two users whose names are spelled alike share neither role nor membership`(_ kind: StoreKind) async throws {
        let (composed, decomposed) = (UserID("caf\u{e9}"), UserID("cafe\u{301}"))
        try await kind.withStore { under in
            let registry = try Registry(under)
            let ann = try await registry.client(1, of: .ann)
            let (one, other) = (
                try await registry.client(2, of: composed), try await registry.client(3, of: decomposed)
            )
            let members: FieldValue = ["ann", .string(composed.text), .string(decomposed.text)]
            #expect(try await ann.push(1, .room(1, ["members": members])) == nil)
            #expect(try await ann.push(2, .room(1, NamedPatch("admins", .add([.string(composed.text)])))) == nil)
            #expect(try await registry.grants(composed).map(\.role) == [.admin])
            #expect(try await registry.grants(decomposed).map(\.role) == [.member])
            let data: FieldValue = .object([composed.text: 1, decomposed.text: 2])
            #expect(try await one.push(1, .note(10, in: 1, data)) == nil)
            #expect(try await other.push(1, .note(11, in: 1)) == .forbidden)
            #expect(try await registry.fields("notes", 10)?["data"]?.json == data.json)
            #expect(try await ann.push(3, .room(1, NamedPatch("members", .remove([.string(composed.text)])))) == nil)
            #expect(try await registry.grants(composed).isEmpty)
            #expect(try await registry.grants(decomposed).map(\.role) == [.member])
        }
    }
}
