import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkPostgresStore

@Suite(.enabled(if: TestSchema.isGiven), .timeLimit(.minutes(5)))
struct PostgresMigrationTests {
    private func store(_ schema: TestSchema) throws -> PostgresStore {
        try PostgresStore(configuration: schema.configuration(), node: 1, logger: TestSchema.logger)
    }

    @Test func `many nodes that start at once create the tables once`() async throws {
        try await TestSchema.with { schema in
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<6 { group.addTask { try await store(schema).migrate() } }
            }
            let fence = "SELECT generation || ' ' || oldest FROM sync_fence"
            #expect(try await schema.sql(fence) == ["\(PostgresExamination.own) \(PostgresSchema.first)"])
            try await store(schema).migrate()
            #expect(try await schema.sql(fence) == ["\(PostgresExamination.own) \(PostgresSchema.first)"])
        }
    }

    @Test func `tables of a later version are refused with what to do, and left unchanged`() async throws {
        try await TestSchema.with { schema in
            try await store(schema).migrate()
            try await schema.sql("UPDATE sync_fence SET generation = 100, oldest = 99")
            let error = await #expect(throws: StoreError.self) { try await store(schema).migrate() }
            #expect(error?.kind == .unavailable)
            #expect(error?.fault == .outdated)
            let own = PostgresExamination.own
            #expect(error?.reason.contains("serves generation 99 and later, this version is of \(own)") == true)
            #expect(error?.reason.contains("run that version") == true)
            #expect(try await schema.sql("SELECT generation::text FROM sync_fence") == ["100"])
        }
    }

    @Test func `tables of a version before the first release are refused with what to do, and left unchanged`()
        async throws
    {
        try await TestSchema.with { schema in
            try await store(schema).migrate()
            let early = PostgresSchema.first - 1
            try await schema.sql("UPDATE sync_fence SET generation = \(early), oldest = 6")
            let error = await #expect(throws: StoreError.self) { try await store(schema).migrate() }
            #expect(error?.fault == .outdated)
            #expect(error?.reason.contains("(they are of generation \(early), and those of the first release") == true)
            #expect(error?.reason.contains("begin with an empty database") == true)
            #expect(try await schema.sql("SELECT generation::text FROM sync_fence") == ["\(early)"])
        }
    }

    @Test func `a migration that fails half-way leaves nothing`() async throws {
        try await TestSchema.with { schema in
            // The last table of the schema exists already.
            try await schema.sql("CREATE TABLE sync_blob_usage (mine text)")
            let error = await #expect(throws: StoreError.self) { try await store(schema).migrate() }
            #expect(error?.kind == .unavailable)
            let tables = try await schema.sql(
                "SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace")
            #expect(tables == ["sync_blob_usage"])
        }
    }

    @Test func `a migration that takes longer than its time says what to do, and the next start finishes it`()
        async throws
    {
        try await TestSchema.with { schema in
            try await store(schema).migrate()
            var options = TestSchema.options
            options.migrationTimeout = .milliseconds(300)
            let next = PostgresExamination.own + 1
            let slow = [Generation(next, "slow", steps: [.init("slow", .tables(["SELECT count(*) FROM pg_sleep(1)"]))])]
            let hurried = try PostgresStore(
                configuration: schema.configuration(), node: 1, options: options, generations: slow,
                logger: TestSchema.logger)
            let error = await #expect(throws: StoreError.self) { try await hurried.migrate() }
            #expect(error?.kind == .unavailable)
            #expect(error?.reason.contains("MIGRATION_MINUTES") == true)
            try await PostgresStore(
                configuration: schema.configuration(), node: 1, options: TestSchema.options, generations: slow,
                logger: TestSchema.logger
            ).migrate()
            #expect(try await schema.sql("SELECT generation::text FROM sync_fence") == ["\(next)"])
        }
    }

    @Test func `a developer can read the tables`() async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let under = StoreUnderTest(store: running.store)
            try await under.commit { $0.put(.numbered(1), body: #"{"text":"tide"}"#) }
            let found = try await schema.sql(
                "SELECT collection || ' ' || scope || ' ' || author || ' ' || (body ->> 'text') FROM sync_record")
            #expect(found == ["message a ann tide"])
            try await running.end()
        }
    }
}
