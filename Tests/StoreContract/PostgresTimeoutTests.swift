import Testing
import TidemarkModel
import TidemarkPostgresStore
import TidemarkStore

@Suite(.enabled(if: TestSchema.isGiven), .timeLimit(.minutes(5)))
struct PostgresTimeoutTests {
    /// An insert of two records at once takes as long as the server allows.
    private static let lingering = [
        """
        CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF (SELECT count(*) FROM fresh) > 1 THEN PERFORM pg_sleep(60); END IF;
            RETURN NULL;
        END
        $$
        """,
        """
        CREATE TRIGGER linger AFTER INSERT ON sync_record
        REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION linger()
        """,
    ]

    @Test(.onOneMachine("spread tables have no triggers"))
    func `a batch whose statement takes too long is a timeout, leaves nothing, and its parts succeed`()
        async throws
    {
        var options = TestSchema.options
        options.statementTimeout = .seconds(1)
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1, options: options)
            do {
                for statement in Self.lingering { try await schema.sql(statement) }
                let under = StoreUnderTest(store: running.store)
                let head = try await under.commit { $0.skip() }.head
                var draft = BatchDraft(after: head)
                draft.put(.numbered(1))
                draft.put(.numbered(2))
                let batch = draft.batch
                let remembered = try PlannedBatch(batch, on: OrderState(head: head))
                for commit in [
                    { _ = try await under.commitment(of: remembered) },
                    { _ = try await under.commit(batch, on: under.store.read(Self.looking, in: under.workspace)) },
                ] as [() async throws -> Void] {
                    let error = await #expect(throws: StoreError.self) { try await commit() }
                    #expect(error?.kind == .timeout)
                }
                #expect(try await under.commit { $0.put(.numbered(1)) }.low == 2)
                #expect(try await under.commit { $0.put(.numbered(2)) }.low == 3)
            } catch {
                try await running.end()
                throw error
            }
            try await running.end()
        }
    }

    @Test func `a node that goes silent in the middle of a step loses the lock of its workspace`() async throws {
        var options = TestSchema.options
        options.idleTimeout = .milliseconds(50)
        try await TestSchema.with { schema in
            let silent = try await RunningPostgresStore(schema, node: 1, options: options)
            let other = try await RunningPostgresStore(schema, node: 2)
            do {
                let under = StoreUnderTest(store: other.store)
                let head = try await under.commit { $0.skip() }.head
                let reading = try await silent.store.read(Self.looking, in: under.workspace)
                // Waits for the lock, which no node releases.
                let next = try await under.store.read(Self.looking, in: under.workspace)
                #expect(next.state.head == head)
                await next.turn?.end()
                await reading.turn?.end()
            } catch {
                try await silent.end()
                try await other.end()
                throw error
            }
            try await silent.end()
            try await other.end()
        }
    }

    private static var looking: ReadSet {
        var reads = ReadSet()
        // Both, since found records are written by another statement than missing ones.
        reads.records = [1, 2].map { RecordKey(collection: "message", id: .numbered($0)) }
        return reads
    }
}
