import Testing
import TidemarkModel
import TidemarkStore

@Suite struct SequenceTests {
    @Test(arguments: StoreKind.available)
    func `batches tile the integers from one on`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let first = try await under.commit { $0.skip(3) }
            let second = try await under.commit { $0.put(.numbered(1)) }
            #expect((first.low, first.head.seq) == (1, 3))
            #expect((second.low, second.head.seq) == (4, 4))
            let found = try await under.read(ReadSet())
            #expect(found.head == second.head)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a workspace that was never written begins at the start`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let found = try await under.read(ReadSet())
            #expect(found.head == .start)
            #expect(try await under.store.session(for: .ann, client: nil, in: under.workspace).head == .start)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a read that ends without a batch writes nothing, and makes no other wait`(_ kind: StoreKind)
        async throws
    {
        try await kind.withStore { under in
            let batch = try await under.commit { $0.put(.numbered(1)) }
            let reading = try await under.store.read(ReadSet(), in: under.workspace)
            await reading.turn?.end()
            await reading.turn?.end()
            #expect(
                try await under.store.tail(after: 0, limit: 9, in: under.workspace).batches.map(\.head) == [batch.head])
            #expect(try await under.commit { $0.skip() }.low == 2)
        }
    }

    @Test(arguments: StoreKind.available)
    func `of two concurrent writers the later one sees the head of the earlier`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            for _ in 0..<50 {
                async let left = under.commit { $0.skip(2) }
                async let right = under.commit { $0.skip(3) }
                let pair = try await [left, right].sorted { $0.low < $1.low }
                #expect(pair[1].low == pair[0].head.seq + 1)
            }
        }
    }

    @Test(arguments: StoreKind.available)
    func `a hundred tasks of twenty batches leave no gap and no overlap`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let committed = try await withThrowingTaskGroup(of: [CommittedBatch].self) { group in
                for task in 0..<100 {
                    group.addTask {
                        var mine: [CommittedBatch] = []
                        for round in 0..<20 {
                            let id = UniqueID.numbered(Int64(task * 100 + round))
                            mine.append(try await under.commit { $0.put(id, in: ScopeID("scope \(task % 7)")) })
                        }
                        return mine
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            let tail = try await under.store.tail(after: 0, limit: 5_000, in: under.workspace).batches
            #expect(tail.map(\.head) == committed.map(\.head).sorted { $0.seq < $1.seq })
            #expect(tail.map(\.low) == Array(1...2_000))
            let scopes = (0..<7).map { ScopeID("scope \($0)") }
            let records = try await under.windows(scopes, span: 100).flatMap(\.records)
            #expect(records == committed.flatMap(\.records).sorted { $0.seq < $1.seq })
        }
    }

    @Test(arguments: StoreKind.available)
    func `a record keeps the latest state under its number`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { $0.put(.numbered(1), body: #"{"text":"one"}"#) }
            let batch = try await under.commit { $0.put(.numbered(1), born: 1, body: #"{"text":"two"}"#) }
            var reads = ReadSet()
            reads.records = [RecordKey(collection: "message", id: .numbered(1))]
            let found = try await under.read(reads)
            #expect(Array(found.records.values) == batch.records)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a nonce keeps all its bits and names the batch of every number in it`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let first = try await under.commit { $0.skip(3) }
            let second = try await under.commit { $0.tamper { $0.head = Head(seq: 5, nonce: .max, time: 7, epoch: 4) } }
            let store = under.store
            for seq: Int64 in 1...3 { #expect(try await store.batch(holding: seq, in: under.workspace) == first.head) }
            for seq: Int64 in 4...5 { #expect(try await store.batch(holding: seq, in: under.workspace) == second.head) }
            for seq in [0, 6, -1, .max] as [Int64] {
                #expect(try await store.batch(holding: seq, in: under.workspace) == nil)
            }
        }
    }
}
