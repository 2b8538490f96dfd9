import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkPostgresStore

/// Requirements for spreading the tables over the machines of a distributed PostgreSQL: `deploy/citus.md`.
@Suite(.enabled(if: TestSchema.isGiven, "TIDEMARK_TEST_POSTGRES names no database"), .timeLimit(.minutes(5)))
struct PostgresSpreadTests {
    /// Tables with rows that belong to no workspace.
    private static let shared = [
        "sync_fence", "sync_probe", "sync_revocation_head", "sync_schema", "sync_step",
    ]

    /// Keys of tables whose rows may name a workspace, are small, and stay on one machine.
    private static let inOnePlace = ["sync_act sync_act_pkey"]

    @Test func `every table of a workspace has keys that contain the workspace, and the page of tables lists it`()
        async throws
    {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            try await running.end()
            let tables = """
                SELECT c.relname FROM pg_class c
                WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND
                """
            let column = "EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'workspace')"
            let without = try await schema.sql("\(tables) NOT \(column) ORDER BY 1")
            #expect(without == Self.shared)
            let keyless = try await schema.sql(
                """
                SELECT concat_ws(' ', c.relname, i.indexrelid::regclass) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
                WHERE c.relnamespace = current_schema()::regnamespace AND i.indisunique AND \(column)
                AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'workspace'
                    AND a.attnum = ANY (i.indkey::smallint[]))
                """)
            #expect(keyless == Self.inOnePlace)
            // A unique key besides the primary one would have to be unique over all machines.
            let unkeyed = try await schema.sql(
                "\(tables) \(column) AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)"
            )
            #expect(unkeyed == [])
        }
    }

    @Test(.enabled(if: TestSchema.isSpread, "TIDEMARK_TEST_CITUS is not set"))
    func `every statement of a workspace is sent to one piece of the tables`() async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            for (statement, types) in PostgresPlanTests.statements + [(OperatingSQL.figures, ["text"])] {
                let plan = try await PostgresPlanTests.plan(of: statement, types, in: schema, first: "'w'")
                // Zero pieces, if a value is NULL.
                let goesToOne = plan.contains("Task Count: 1\n") || plan.contains("Task Count: 0\n")
                #expect(goesToOne, "\(statement.name)\n\(plan)")
                #expect(!plan.contains("pull to coordinator"), "\(statement.name)\n\(plan)")
            }
            try await running.end()
        }
    }

    @Test(.enabled(if: TestSchema.isSpread, "TIDEMARK_TEST_CITUS is not set"))
    func `the rows of many workspaces are backfilled, each on its worker`() async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let workspaces = (0..<6).map { WorkspaceID("w\($0)") }
            for workspace in workspaces {
                for number: Int64 in 1...3 {
                    _ = try await running.store.register(.numbered(number), for: .ann, in: workspace, now: 1)
                }
            }
            try await running.end()
            var options = TestSchema.options
            // Pages hold rows of several workspaces.
            options.backfillRows = 4
            let node = try PostgresStore(
                configuration: schema.configuration(), node: 2, options: options,
                generations: PostgresGenerationTests.next, logger: TestSchema.logger)
            try await node.migrate(.all)
            #expect(
                try await schema.sql("SELECT count(*)::text FROM sync_client WHERE label = 'ann'")
                    == ["\(workspaces.count * 3)"])
        }
    }

    @Test(.enabled(if: TestSchema.isSpread, "TIDEMARK_TEST_CITUS is not set"))
    func `commits are not called safe by standbys that have none of them`() async throws {
        try await TestSchema.with { schema in
            let error = await #expect(throws: StoreError.self) {
                try await PostgresReplicas.check(try schema.configuration(), logger: TestSchema.logger)
            }
            #expect(error?.reason == PostgresReplicas.spread)
        }
    }
}
