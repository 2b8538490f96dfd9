import Testing

@testable import TidemarkPostgres

struct `Secrets and values` {
    @Test(arguments: [
        "postgresql://tide:hunter2@db.example:5433/mark?sslmode=disable",
        "host=db.example port=5433 user=tide password=hunter2 dbname=mark",
    ])
    func `a printed configuration shows the target and hides the password`(connectionString: String) throws {
        let configuration = try PostgresConfiguration(connectionString: connectionString)
        var dumped = ""
        dump(configuration, to: &dumped)
        let printed = ["\(configuration)", String(reflecting: configuration), dumped, configuration.target]
        for text in printed {
            #expect(text.contains("db.example") && text.contains("5433") && text.contains("mark"))
            #expect(!text.contains("hunter2"))
        }
    }

    @Test func `a connection string that cannot be parsed is not quoted`() throws {
        let error = #expect(throws: PostgresError.self) {
            try PostgresConfiguration(connectionString: "host=db password hunter2")
        }
        guard case .configuration(let reason) = error else {
            Issue.record("not a configuration error")
            return
        }
        #expect(!reason.contains("hunter2"))
    }

    @Test(.enabled(if: TestDatabase.isGiven)) func `an error's text holds no values`() async throws {
        try await TestDatabase.withConnection { connection in
            let duplicate = await postgresError {
                _ = try await connection.run(
                    "CREATE TEMP TABLE t (secret text PRIMARY KEY)", "INSERT INTO t VALUES ('hunter2'), ('hunter2')")
            }
            let malformed = await postgresError { _ = try await connection.run("SELECT 'hunter2'::integer") }
            for error in [duplicate, malformed] {
                #expect(error?.isData == true)
                #expect(error.map { !"\($0)".contains("hunter2") } == true)
            }
        }
    }
}
