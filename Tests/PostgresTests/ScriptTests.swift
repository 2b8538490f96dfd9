import Testing

@testable import TidemarkPostgres

@Suite(.enabled(if: TestDatabase.isGiven), .timeLimit(.minutes(5)))
struct `A script` {
    @Test func `runs all its statements as one transaction`() async throws {
        let configuration = try TestDatabase.configuration()
        try await PostgresScript.run(
            configuration,
            sql: """
                DROP TABLE IF EXISTS script_whole;
                CREATE TABLE script_whole (i integer);
                INSERT INTO script_whole SELECT * FROM generate_series(1, 1000);
                """)
        await #expect(throws: PostgresError.self) {
            try await PostgresScript.run(configuration, sql: "DELETE FROM script_whole; SELECT 1/0; SELECT 2")
        }
        try await TestDatabase.withConnection { connection in
            #expect(try await connection.one("SELECT count(*) FROM script_whole").int64(0, 0) == 1_000)
            _ = try await connection.run("DROP TABLE script_whole")
        }
    }

    @Test func `names the first error by its SQLSTATE`() async throws {
        let error = await postgresError {
            try await PostgresScript.run(TestDatabase.configuration(), sql: "SELECT 1; SELEKT 2; SELECT 1/0")
        }
        guard case .server("42601", _) = error else {
            Issue.record("not a syntax error: \(String(describing: error))")
            return
        }
    }

    @Test func `ends when its time is up`() async throws {
        let error = await postgresError {
            try await PostgresScript.run(
                TestDatabase.configuration(), sql: "SELECT pg_sleep(30)", timeout: .milliseconds(200))
        }
        #expect(error == .timeout)
    }

    @Test func `ends with its task`() async throws {
        var configuration = try TestDatabase.configuration()
        configuration.applicationName = "script-cancelled"
        try await TestDatabase.withConnection { [configuration] watcher in
            let script = Task { try await PostgresScript.run(configuration, sql: "SELECT pg_sleep(30)") }
            let search = "SELECT pid FROM pg_stat_activity WHERE application_name = 'script-cancelled'"
            try await eventually { try await watcher.one(search + " AND wait_event = 'PgSleep'").rowCount == 1 }
            script.cancel()
            await #expect(throws: CancellationError.self) { try await script.value }
            _ = try await watcher.run("SELECT pg_terminate_backend(pid) FROM (\(search)) AS s")
        }
    }
}
