import Synchronization
import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

/// Steps that begin while the one before waits for the workspace's lock.
@Suite(.enabled(if: TestSchema.isGiven), .timeLimit(.minutes(5)))
struct PostgresAheadTests {
    /// A store on a schema of its own, with one connection for steps: the one ahead can only travel behind the other.
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

    /// Waits until a step waits for the lock that this connection holds.
    private func untilBlocked(by holder: PostgresConnection) async throws {
        let question = Statement.simple(
            "SELECT FROM pg_stat_activity WHERE pg_blocking_pids(pid) @> ARRAY[pg_backend_pid()]")
        while try await holder.run([question]).first?.rowCount != 1 {}
    }

    @Test func `a batch is planned while the one before waits for the lock, and both are committed`() async throws {
        try await withStore { under, schema in
            try await under.commit { $0.put(.numbered(1)) }
            let planned = Plans()
            try await withThrowingTaskGroup(of: CommittedBatch?.self) { steps in
                try await schema.whileLocked { holder in
                    steps.addTask { try await under.create(2, planned) }
                    let ground = await planned.next()
                    try await untilBlocked(by: holder)
                    steps.addTask { try await under.createAhead(3, planned) }
                    #expect(await planned.next().seq == ground.seq + 1)
                }
                let lows = try await steps.reduce(into: []) { $0.append($1?.low) }
                #expect(lows.compactMap { $0 }.sorted() == [2, 3])
            }
            #expect(try await under.read(ReadSet()).head.seq == 3)
        }
    }

    @Test func `what was planned on a batch that another node's came before is not written`() async throws {
        try await withStore { under, schema in
            try await under.commit { $0.put(.numbered(1)) }
            let planned = Plans()
            let ends = Ends()
            try await withThrowingDiscardingTaskGroup { steps in
                try await schema.whileLocked(then: [.simple("UPDATE sync_batch SET nonce = nonce + 1")]) { holder in
                    steps.addTask { try await ends.note("first") { try await under.create(2, planned) } }
                    _ = await planned.next()
                    try await untilBlocked(by: holder)
                    steps.addTask { try await ends.note("second") { try await under.createAhead(3, planned) } }
                    _ = await planned.next()
                }
            }
            #expect(try ends["first"]?.get()?.low == 2)
            #expect(ends["second"] == .failure(.overtaken))
            let page = try await under.store.page(
                scope: .a, collection: "message", before: .max, limit: 9, in: under.workspace)
            #expect(page.records.map(\.key.id) == [.numbered(2), .numbered(1)])
        }
    }
}

/// How steps ended, by name.
private final class Ends: Sendable {
    private let ends = Mutex<[String: Result<CommittedBatch?, StoreError>]>([:])

    subscript(name: String) -> Result<CommittedBatch?, StoreError>? { ends.withLock { $0[name] } }

    func note(_ name: String, _ step: @Sendable () async throws -> CommittedBatch?) async throws {
        do {
            let batch = try await step()
            ends.withLock { $0[name] = .success(batch) }
        } catch let error as StoreError {
            ends.withLock { $0[name] = .failure(error) }
        }
    }
}
