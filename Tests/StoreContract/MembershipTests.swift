import Testing
import TidemarkModel
import TidemarkStore

@Suite struct MembershipTests {
    private func grants(_ under: StoreUnderTest, _ user: UserID = .ann) async throws -> [Grant] {
        try await under.store.session(for: user, client: nil, in: under.workspace).grants
    }

    @Test(arguments: StoreKind.available)
    func `a membership ends, and begins again as another one`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { $0.grant(.ann, .a) }
            #expect(try await grants(under) == [Grant(scope: .a, since: 1, role: .member)])
            try await under.commit { $0.revoke(.ann, .a) }
            #expect(try await grants(under).isEmpty)
            var reads = ReadSet()
            reads.seats = [Seat(user: .ann, scope: .a)]
            #expect(try await under.read(reads).grants.isEmpty)
            try await under.commit { $0.grant(.ann, .a) }
            #expect(try await grants(under) == [Grant(scope: .a, since: 3, role: .member)])
        }
    }

    @Test(arguments: StoreKind.available)
    func `a change of the role keeps the beginning`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { $0.grant(.ann, .a) }
            try await under.commit { $0.changeRole(.ann, .a, .admin) }
            #expect(try await grants(under) == [Grant(scope: .a, since: 1, role: .admin)])
        }
    }

    @Test(arguments: StoreKind.available)
    func `a role is lowered as well as raised`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { $0.grant(.ann, .a, .admin) }
            try await under.commit { $0.changeRole(.ann, .a, .member) }
            #expect(try await grants(under) == [Grant(scope: .a, since: 1, role: .member)])
        }
    }

    @Test(arguments: StoreKind.available)
    func `a membership that ends and begins within one batch is another one`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { draft in
                draft.grant(.ann, .a, .admin)
                draft.grant(.bob, .a)
            }
            try await under.commit { draft in
                draft.revoke(.ann, .a)
                draft.grant(.ann, .a)
                draft.revoke(.bob, .a)
                draft.grant(.bob, .a)
                draft.changeRole(.bob, .a, .admin)
            }
            #expect(try await grants(under) == [Grant(scope: .a, since: 4, role: .member)])
            #expect(try await grants(under, .bob) == [Grant(scope: .a, since: 6, role: .admin)])
        }
    }

    @Test(arguments: StoreKind.available)
    func `changes of one batch take effect in their order`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { draft in
                draft.grant(.ann, .a)
                draft.revoke(.ann, .a)
                draft.grant(.ann, .a, .admin)
                draft.grant(.bob, .a)
                draft.revoke(.bob, .a)
            }
            #expect(try await grants(under) == [Grant(scope: .a, since: 3, role: .admin)])
            #expect(try await grants(under, .bob).isEmpty)
        }
    }

    @Test(arguments: StoreKind.available)
    func `ending a membership that does not exist changes nothing`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { draft in
                draft.grant(.bob, .a)
                draft.revoke(.ann, .a)
            }
            #expect(try await grants(under, .bob).count == 1)
        }
    }
}
