import Testing
import TidemarkModel
import TidemarkStore

@Suite struct FollowTests {
    private func tail(_ under: StoreUnderTest, after seq: Int64 = 0) async throws -> [TailBatch] {
        try await under.store.tail(after: seq, limit: 100, in: under.workspace).batches
    }

    @Test(arguments: StoreKind.available)
    func `following a new workspace creates it, at the start`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let head = try await under.store.follow(under.workspace, node: .max, now: 1_000)
            #expect(head == .start)
            #expect(try await tail(under).isEmpty)
            #expect(try await under.commit { $0.skip() }.low == 1)
        }
    }

    @Test(arguments: StoreKind.available)
    func `every batch after following carries its body, as it was committed`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let row = try await under.register(.numbered(50), for: .ann)
            let before = try await under.commit { $0.put(.numbered(1)) }
            #expect(try await under.store.follow(under.workspace, node: 7, now: 1_000) == before.head)
            let first = try await under.commit { draft in
                draft.put(.numbered(1), born: 1, body: nil)
                draft.put(.numbered(2), body: #"{"text":"\"quoted\" \\ 🌊"}"#)
                draft.grant(.ann, .a, .admin)
                draft.changeRole(.ann, .a, .member)
                draft.revoke(.bob, .a)
                draft.settle(row, through: 2, refusing: [2])
            }
            let second = try await under.commit { $0.skip(9) }
            #expect(
                try await tail(under) == [
                    TailBatch(low: before.low, head: before.head, batch: nil),
                    TailBatch(low: first.low, head: first.head, batch: first),
                    TailBatch(low: second.low, head: second.head, batch: second),
                ])
            #expect(try await tail(under, after: first.head.seq).map(\.batch) == [second])
            #expect(try await tail(under, after: second.head.seq).isEmpty)
            #expect(try await under.store.tail(after: 0, limit: 2, in: under.workspace).batches.count == 2)
        }
    }

    @Test(arguments: StoreKind.available)
    func `bodies end with the last listener`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            for node: UInt64 in [1, 2] { _ = try await under.store.follow(under.workspace, node: node, now: 1_000) }
            try await under.store.unfollow(under.workspace, node: 1)
            try await under.store.unfollow(under.workspace, node: 99)
            try await under.commit { $0.skip() }
            try await under.store.unfollow(under.workspace, node: 2)
            try await under.commit { $0.skip() }
            #expect(try await tail(under).map { $0.batch != nil } == [true, false])
        }
    }

    @Test(arguments: StoreKind.available)
    func `a listener that stopped renewing lapses, one that renews does not`(_ kind: StoreKind) async throws {
        var limits = StoreLimits()
        limits.followLifetime = 500
        try await kind.withStore(limits: limits) { under in
            _ = try await under.store.follow(under.workspace, node: 1, now: 1_000)
            try await under.commit(time: 1_400) { $0.skip() }
            _ = try await under.store.follow(under.workspace, node: 1, now: 1_400)
            try await under.commit(time: 1_800) { $0.skip() }
            try await under.commit(time: 2_000) { $0.skip() }
            #expect(try await tail(under).map { $0.batch != nil } == [true, true, false])
        }
    }

    @Test(arguments: StoreKind.available)
    func `bodies far behind the head are dropped, heads stay`(_ kind: StoreKind) async throws {
        var limits = StoreLimits()
        limits.tailSpan = 10
        try await kind.withStore(limits: limits) { under in
            _ = try await under.store.follow(under.workspace, node: 1, now: 1_000)
            for _ in 0..<6 { try await under.commit { $0.skip(4) } }
            let tail = try await tail(under)
            #expect(tail.map(\.head.seq) == [4, 8, 12, 16, 20, 24])
            #expect(tail.map { $0.batch != nil } == [false, false, false, true, true, true])
        }
    }

    @Test(arguments: StoreKind.available)
    func `a read of the tail names the batch before it`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            _ = try await under.store.follow(under.workspace, node: 7, now: 1_000)
            var heads: [Head] = []
            for number in Int64(1)...3 { heads.append(try await under.commit { $0.skip(number) }.head) }
            func read(after seq: Int64, limit: Int = 9) async throws -> TailRead {
                try await under.store.tail(after: seq, limit: limit, in: under.workspace)
            }
            #expect(heads.map(\.seq) == [1, 3, 6])
            #expect(try await read(after: 0).base == nil)
            for (seq, base, rest) in [(1, 0, 2), (3, 1, 1), (6, 2, 0)] as [(Int64, Int, Int)] {
                let found = try await read(after: seq)
                #expect(found.base == heads[base] && found.batches.map(\.head) == heads.suffix(rest))
            }
            let inside = try await read(after: 2)
            #expect(inside.base == heads[1], "the number lies inside a batch")
            #expect(inside.batches.map(\.head) == Array(heads.suffix(2)), "of which all is given")
            #expect(inside.batches.allSatisfy { $0.batch?.low == $0.low })
            #expect(try await read(after: 2, limit: 1).batches.map(\.head) == [heads[1]])
            #expect(try await read(after: 1, limit: 1).batches.map(\.head) == [heads[1]])
            #expect(try await read(after: 7) == TailRead(base: nil, batches: []))
        }
    }
}
