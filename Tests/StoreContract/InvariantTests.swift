import Testing
import TidemarkModel
import TidemarkStore

/// A faulty planner must not corrupt the order: nothing of its batch is written.
@Suite struct InvariantTests {
    private func expectRefusal(
        _ kind: StoreKind, _ draw: (inout BatchDraft) -> Void
    ) async throws {
        try await kind.withStore { under in
            let row = try await under.register(.numbered(50), for: .ann)
            let before = try await under.commit {
                $0.put(.numbered(1))
                $0.put(.numbered(2))
                $0.settle(row, through: 3)
            }
            let error = await #expect(throws: StoreError.self) { try await under.commit(draw) }
            #expect(error?.kind == .invariant)
            #expect(try await under.read(ReadSet()).head == before.head)
            let window = try await under.store.window(scopes: [.a, .b], after: 0, span: 100, in: under.workspace)
            #expect(window.records == before.records)
            let session = try await under.store.session(for: .ann, client: row.id, in: under.workspace)
            #expect(session.client?.settledThrough == 3)
            #expect(session.grants.isEmpty)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a batch that leaves a gap is refused`(_ kind: StoreKind) async throws {
        try await expectRefusal(kind) { draft in
            draft.tamper {
                $0.low += 1
                $0.head.seq = $0.low
            }
        }
    }

    @Test(arguments: StoreKind.available)
    func `a batch that overlaps is refused`(_ kind: StoreKind) async throws {
        try await expectRefusal(kind) { draft in
            draft.skip(2)
            draft.tamper { $0.low -= 1 }
        }
    }

    @Test(arguments: StoreKind.available)
    func `a batch without a number is refused`(_ kind: StoreKind) async throws {
        try await expectRefusal(kind) { _ in }
    }

    @Test(arguments: StoreKind.available)
    func `two records of one number are refused`(_ kind: StoreKind) async throws {
        try await expectRefusal(kind) { draft in
            draft.grant(.ann, .b)
            draft.put(.numbered(10))
            draft.put(.numbered(11))
            draft.tamper {
                $0.records[1].seq = $0.records[0].seq
                $0.records[1].born = $0.records[0].seq
            }
        }
    }

    @Test(arguments: StoreKind.available)
    func `a record outside its batch is refused`(_ kind: StoreKind) async throws {
        try await expectRefusal(kind) { draft in
            draft.put(.numbered(10))
            draft.tamper { $0.records[0].seq += 1 }
        }
    }

    @Test(arguments: StoreKind.available)
    func `a record that changes its scope is refused with all its batch`(_ kind: StoreKind) async throws {
        try await expectRefusal(kind) { draft in
            draft.put(.numbered(10))
            draft.put(.numbered(1), in: .b, born: 1)
            draft.put(.numbered(11))
        }
    }

    @Test(arguments: StoreKind.available)
    func `a record that is born again is refused`(_ kind: StoreKind) async throws {
        try await expectRefusal(kind) { draft in
            draft.grant(.ann, .b)
            draft.put(.numbered(2), born: 1)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a client's settled number never goes back`(_ kind: StoreKind) async throws {
        try await expectRefusal(kind) { draft in
            draft.put(.numbered(10))
            draft.settle(ClientRow(id: .numbered(50), user: .ann), through: 2)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a client that never registered cannot be settled`(_ kind: StoreKind) async throws {
        try await expectRefusal(kind) { draft in
            draft.put(.numbered(10))
            draft.settle(ClientRow(id: .numbered(51), user: .ann), through: 1)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a scope whose first batch was refused is visible after its second`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { $0.put(.numbered(1)) }
            await #expect(throws: StoreError.self) {
                try await under.commit { draft in
                    draft.put(.numbered(2), in: .c)
                    draft.put(.numbered(1), in: .b, born: 1)
                }
            }
            let batch = try await under.commit { $0.put(.numbered(3), in: .c) }
            let window = try await under.store.window(scopes: [.c], after: 0, span: 9, in: under.workspace)
            #expect(window.records == batch.records)
        }
    }
}
