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
            #expect(try await schema.sql(fence) == ["\(PostgresBaseline.generation) 6"])
            try await store(schema).migrate()
            #expect(try await schema.sql(fence) == ["\(PostgresBaseline.generation) 6"])
            // The rows that the version before generations looks for.
            let versions = try await schema.sql("SELECT version::text FROM sync_migration ORDER BY version")
            #expect(versions == ["1", "2", "3", "4", "5", "6"])
        }
    }

    @Test func `tables of a later version are refused with what to do, and left unchanged`() async throws {
        try await TestSchema.with { schema in
            try await store(schema).migrate()
            try await schema.sql("UPDATE sync_fence SET generation = 100, oldest = 99")
            let error = await #expect(throws: StoreError.self) { try await store(schema).migrate() }
            #expect(error?.kind == .unavailable)
            #expect(error?.fault == .outdated)
            let own = PostgresBaseline.generation
            #expect(error?.reason.contains("serves generation 99 and later, this version is of \(own)") == true)
            #expect(error?.reason.contains("run that version") == true)
            #expect(try await schema.sql("SELECT generation::text FROM sync_fence") == ["100"])
        }
    }

    @Test func `tables of a version that has no generations and is later are refused`() async throws {
        try await TestSchema.with { schema in
            try await schema.makeTables(through: 6)
            try await schema.sql("INSERT INTO sync_migration (version, name) VALUES (99, 'from the future')")
            let error = await #expect(throws: StoreError.self) { try await store(schema).migrate() }
            #expect(error?.reason.contains("schema 99") == true)
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
            try await schema.makeTables(through: 5)
            try await schema.sql("INSERT INTO sync_workspace VALUES ('one')")
            var options = TestSchema.options
            options.migrationTimeout = .milliseconds(300)
            let hurried = try PostgresStore(
                configuration: schema.configuration(), node: 1, options: options, logger: TestSchema.logger)
            try await schema.whileLocked { _ in
                let error = await #expect(throws: StoreError.self) { try await hurried.migrate() }
                #expect(error?.kind == .unavailable)
                #expect(error?.reason.contains("MIGRATION_MINUTES") == true)
            }
            try await store(schema).migrate()
            #expect(
                try await schema.sql("SELECT generation::text FROM sync_fence") == ["\(PostgresBaseline.generation)"])
            #expect(try await schema.sql("SELECT count(salt)::text FROM sync_workspace") == ["1"])
        }
    }

    @Test func `records from before scopes had short keys are found by scope, each in its workspace`()
        async throws
    {
        try await TestSchema.with { schema in
            try await schema.makeTables(through: 4)
            for workspace in ["one", "two"] {
                try await schema.sql("INSERT INTO sync_workspace VALUES ('\(workspace)')")
                try await schema.sql(
                    "INSERT INTO sync_batch (workspace, seq, low, nonce, time, epoch) VALUES ('\(workspace)', 3, 1, 1, 1, 0)"
                )
                for (number, scope) in [(1, "a"), (2, "b"), (3, "a")] {
                    try await schema.sql(
                        """
                        INSERT INTO sync_record (
                            workspace, collection, id, scope, seq, born, deleted, author, created, updated, octets, body)
                        VALUES ('\(workspace)', 'message', '\(UniqueID.numbered(Int64(number)))', '\(scope)', \(number),
                            \(number), false, 'ann', 1, 2, 14, '{"text":"\(workspace)"}')
                        """)
                }
            }
            let running = try await RunningPostgresStore(schema, node: 1)
            for workspace in ["one", "two"] {
                let under = StoreUnderTest(store: running.store, workspace: WorkspaceID(workspace))
                let window = try await under.store.window(scopes: [.a], after: 0, span: 9, in: under.workspace)
                #expect(window.records.map(\.seq) == [1, 3])
                #expect(window.records.allSatisfy { String(decoding: $0.body, as: UTF8.self).contains(workspace) })
                let page = try await under.store.page(
                    scope: .a, collection: "message", before: .max, limit: 1, in: under.workspace)
                #expect(page.records.map(\.key.id) == [.numbered(3)])
                try await under.commit { $0.put(.numbered(5), in: .b) }
                #expect(try await under.store.changedScopes(among: [.a, .b], after: 3, in: under.workspace) == [.b])
            }
            try await running.end()
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
