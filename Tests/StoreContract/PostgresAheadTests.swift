import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

/// Batches that are submitted while the one before waits for the workspace's lock.
@Suite(.enabled(if: TestSchema.isGiven), .onOneMachine("waits are seen on the worker"), .timeLimit(.minutes(5)))
struct PostgresAheadTests {
    /// A store on a schema of its own, with one connection for sequencing: the batch ahead can only be sent behind the
    /// other.
    private func withStore(_ body: (StoreUnderTest, TestSchema) async throws -> Void) async throws {
        try await TestSchema.with { schema in
            var options = TestSchema.options
            options.sequencingConnections = 1
            let running = try await RunningPostgresStore(schema, node: 1, options: options)
            do {
                try await body(StoreUnderTest(store: running.store), schema)
            } catch {
                try await running.end()
                throw error
            }
            try await running.end()
        }
    }

    /// Commits two batches behind a lock that is held until the first waits for it; `last` runs before the lock is
    /// released.
    private func commitTwo(
        in under: StoreUnderTest, _ schema: TestSchema, then last: [Statement] = []
    ) async throws -> [Commitment] {
        let head = try await under.commit { $0.put(.numbered(1)) }.head
        let first = try under.create(2, after: head)
        let second = try under.create(3, after: first.batch.head, isAhead: true)
        let blocked = Statement.simple(
            "SELECT FROM pg_stat_activity WHERE pg_blocking_pids(pid) @> ARRAY[pg_backend_pid()]")
        return try await withThrowingTaskGroup(of: [Commitment].self) { group in
            try await schema.whileLocked(then: last) { holder in
                let (handed, hand) = AsyncStream.makeStream(of: Void.self)
                group.addTask { try await under.commitments(of: [first, second]) { hand.finish() } }
                for await _ in handed {}
                while try await holder.run([blocked]).first?.rowCount != 1 {}
            }
            return try await group.next() ?? []
        }
    }

    @Test func `a batch is sent behind one that waits for the lock, and both are committed`() async throws {
        try await withStore { under, schema in
            let results = try await commitTwo(in: under, schema)
            #expect(results == [.written(isHeard: false), .written(isHeard: false)])
            #expect(try await under.read(ReadSet()).head.seq == 3)
        }
    }

    @Test func `nothing is written of batches preceded by another node's`() async throws {
        try await withStore { under, schema in
            let results = try await commitTwo(
                in: under, schema, then: [.simple("UPDATE sync_batch SET nonce = nonce + 1")])
            #expect(results == [.moved, .moved])
            let page = try await under.store.page(
                scope: .a, collection: "message", before: .max, limit: 9, in: under.workspace)
            #expect(page.records.map(\.key.id) == [.numbered(1)])
        }
    }
}
