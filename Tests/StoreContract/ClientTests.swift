import Testing
import TidemarkModel
import TidemarkStore

@Suite struct ClientTests {
    @Test(arguments: StoreKind.available)
    func `a repeated registration returns the same row with later changes`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let row = try await under.register(.numbered(50), for: .ann)
            #expect(row == ClientRow(id: .numbered(50), user: .ann))
            #expect(try await under.register(.numbered(50), for: .ann) == row)
            try await under.commit { $0.settle(row, through: 4) }
            #expect(try await under.register(.numbered(50), for: .ann).settledThrough == 4)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a client id of another user is taken`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            _ = try await under.register(.numbered(50), for: .ann)
            let answer = try await under.store.register(.numbered(50), for: .bob, in: under.workspace, now: 2)
            #expect(answer == .taken)
            let session = try await under.store.session(for: .bob, client: .numbered(50), in: under.workspace)
            #expect(session.client == nil)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a user may register a bounded number of clients, and keeps those`(_ kind: StoreKind) async throws {
        var limits = StoreLimits()
        limits.clientsPerUserMax = 2
        try await kind.withStore(limits: limits) { under in
            let first = try await under.register(.numbered(1), for: .ann)
            _ = try await under.register(.numbered(2), for: .ann)
            let answer = try await under.store.register(.numbered(3), for: .ann, in: under.workspace, now: 2)
            #expect(answer == .tooMany)
            #expect(try await under.register(.numbered(1), for: .ann) == first)
            _ = try await under.register(.numbered(3), for: .bob)
        }
    }

    @Test(arguments: StoreKind.available)
    func `clients are listed from the least useful one`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            var rows: [ClientRow] = []
            for number in Int64(1)...5 { rows.append(try await under.register(.numbered(number), for: .ann)) }
            _ = try await under.register(.numbered(9), for: .bob)
            var early = rows[1]
            let writer = rows[0]
            (early.ackedThrough, early.settledThrough) = (1, 0)
            let acked = early
            try await under.commit { draft in
                draft.settle(writer, through: 3)
                draft.settle(acked, through: 1)
            }
            let asked = [ClientID.numbered(1), .numbered(3), .numbered(4), .numbered(77)]
            let seen = try await under.store.saw(asked.map { SeenClient($0, at: 500) }, in: under.workspace)
            #expect(seen == [.numbered(1), .numbered(3), .numbered(4)])
            let later = [ClientID.numbered(2), .numbered(3)].map { SeenClient($0, at: 900) }
            _ = try await under.store.saw(later, in: under.workspace)
            let listed = try await under.store.clients(of: .ann, in: under.workspace)
            #expect(
                listed == [
                    RegisteredClient(id: .numbered(5), settledThrough: 0, registered: 1, seen: 1),
                    RegisteredClient(id: .numbered(4), settledThrough: 0, registered: 1, seen: 500),
                    RegisteredClient(id: .numbered(3), settledThrough: 0, registered: 1, seen: 900),
                    RegisteredClient(id: .numbered(2), settledThrough: 1, registered: 1, seen: 900),
                    RegisteredClient(id: .numbered(1), settledThrough: 3, registered: 1, seen: 500),
                ])
            #expect(try await under.store.clients(of: UserID("nobody"), in: under.workspace).isEmpty)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a removed client is unknown from its batch on, and its id can be registered again`(_ kind: StoreKind)
        async throws
    {
        var limits = StoreLimits()
        limits.clientsPerUserMax = 2
        try await kind.withStore(limits: limits) { under in
            let row = try await under.register(.numbered(1), for: .ann)
            _ = try await under.register(.numbered(2), for: .ann)
            // Twice, so that a store with a memory has the client.
            try await under.commit { $0.settle(row, through: 2) }
            var next = row
            next.settledThrough = 2
            let settled = next
            try await under.commit { $0.settle(settled, through: 4) }
            let removal = try await under.commit { $0.remove(row.id) }
            #expect(try await under.store.session(for: .ann, client: row.id, in: under.workspace).client == nil)
            var reads = ReadSet()
            reads.clients = [row.id]
            let found = try await under.read(reads)
            #expect(found.clients.isEmpty && found.head == removal.head)
            #expect(try await under.store.clients(of: .ann, in: under.workspace).map(\.id) == [.numbered(2)])
            #expect(try await under.register(row.id, for: .ann) == ClientRow(id: row.id, user: .ann))
        }
    }

    @Test(arguments: StoreKind.available)
    func `a client that was removed cannot be settled`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let row = try await under.register(.numbered(1), for: .ann)
            try await under.commit { $0.settle(row, through: 1) }
            try await under.commit { $0.remove(row.id) }
            await #expect(throws: StoreError.self) { try await under.commit { $0.settle(row, through: 2) } }
        }
    }

    @Test(arguments: StoreKind.available)
    func `other nodes read a removal`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            _ = try await under.register(.numbered(1), for: .ann)
            _ = try await under.store.follow(under.workspace, node: 99, now: 1_000)
            let removal = try await under.commit { $0.remove(.numbered(1)) }
            let tail = try await under.store.tail(after: removal.low - 1, limit: 9, in: under.workspace)
            #expect(tail.batches.map(\.batch?.removals) == [[.numbered(1)]])
        }
    }

    @Test(arguments: StoreKind.available)
    func `one client registered by many tasks at once is one client`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let answers = try await withThrowingTaskGroup(of: Registration.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        try await under.store.register(
                            .numbered(7), for: number.isMultiple(of: 2) ? .ann : .bob, in: under.workspace, now: 1)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0 == .taken } == 10)
            #expect(Set(answers).count == 2)
        }
    }

    @Test(arguments: StoreKind.available)
    func `results are kept until they are acknowledged`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let row = try await under.register(.numbered(50), for: .ann)
            let batch = try await under.commit { $0.settle(row, through: 5, refusing: [2]) }
            let results = batch.settlements.flatMap(\.results)
            var reads = ReadSet()
            reads.clients = [row.id]
            #expect(try await under.read(reads).clients[row.id]?.kept == results)

            var acked = row
            acked.settledThrough = 5
            acked.ackedThrough = 3
            acked.connection = 9
            let stored = acked
            try await under.commit { $0.settle(stored, through: 5) }
            let found = try await under.read(reads)
            #expect(found.clients[row.id]?.row == stored)
            #expect(found.clients[row.id]?.kept.map(\.number) == [4, 5])
        }
    }

    @Test(arguments: StoreKind.available)
    func `a session starts from head, client, unacknowledged results and grants`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            var row = try await under.register(.numbered(50), for: .ann)
            let other = try await under.register(.numbered(51), for: .ann)
            let start = row
            let first = try await under.commit { draft in
                draft.grant(.ann, .b)
                draft.grant(.bob, .c)
                draft.grant(.ann, .a, .owner)
                draft.settle(start, through: 4, refusing: [1, 3, 4])
                draft.settle(other, through: 1, refusing: [1])
            }
            row.settledThrough = 4
            row.ackedThrough = 2
            let acked = row
            let last = try await under.commit { $0.settle(acked, through: 4) }
            let session = try await under.store.session(for: .ann, client: row.id, in: under.workspace)
            #expect(session.head == last.head)
            #expect(session.client == acked)
            #expect(session.results == first.settlements.first?.results.filter { $0.number > 2 })
            #expect(
                session.grants == [
                    Grant(scope: .a, since: 3, role: .owner), Grant(scope: .b, since: 1, role: .member),
                ])
            let stranger = try await under.store.session(for: .ann, client: .numbered(99), in: under.workspace)
            #expect(stranger.client == nil && stranger.results.isEmpty && stranger.grants.count == 2)
        }
    }
}
