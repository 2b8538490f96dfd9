import Testing

@testable import TidemarkPostgres

@Suite(.enabled(if: TestDatabase.isGiven), .timeLimit(.minutes(5)))
struct `One round trip` {
    private static let insert = PreparedStatement(name: "insert", sql: "INSERT INTO t VALUES ($1)")

    private func insert(_ value: Int64) -> Statement {
        var parameters = Parameters()
        parameters.add(value)
        return Statement(Self.insert, parameters)
    }

    private func withTable(_ body: (PostgresConnection) async throws -> Void) async throws {
        try await TestDatabase.withConnection { connection in
            _ = try await connection.run("CREATE TEMP TABLE t (i integer PRIMARY KEY DEFERRABLE INITIALLY IMMEDIATE)")
            try await body(connection)
        }
    }

    private func rows(_ connection: PostgresConnection) async throws -> Int64 {
        try await connection.one("SELECT count(*) FROM t").int64(0, 0)
    }

    @Test func `returns a result for each statement, in order`() async throws {
        try await withTable { connection in
            let results = try await connection.run([insert(1), insert(2), .simple("SELECT count(*) FROM t"), insert(3)])
            #expect(results.map(\.affectedRows) == [1, 1, 1, 1])
            #expect(try results[2].int64(0, 0) == 2)
        }
    }

    @Test func `an error aborts the rest, undoes what was done before and leaves the connection usable`() async throws {
        try await withTable { (connection) async throws in
            let error = await postgresError {
                _ = try await connection.run([insert(1), insert(2), insert(2), insert(3), .simple("SELECT 1/0")])
            }
            guard case .server("23505", _) = error else {
                Issue.record("the first error is not the one thrown: \(String(describing: error))")
                return
            }
            #expect(error?.isData == true)
            #expect(try await rows(connection) == 0)
            _ = try await connection.run([insert(1)])
            #expect(try await rows(connection) == 1)
        }
    }

    @Test func `an error of the commit itself is thrown`() async throws {
        try await withTable { (connection) async throws in
            let error = await postgresError {
                _ = try await connection.run([.simple("SET CONSTRAINTS ALL DEFERRED"), insert(1), insert(1)])
            }
            guard case .server("23505", _) = error else {
                Issue.record("no unique violation: \(String(describing: error))")
                return
            }
            #expect(try await rows(connection) == 0)
        }
    }

    @Test func `a statement whose preparation was skipped is prepared the next time`() async throws {
        try await withTable { (connection) async throws in
            let error = await postgresError { _ = try await connection.run([.simple("SELECT 1/0"), insert(1)]) }
            #expect(error?.isData == true)
            _ = try await connection.run([insert(1)])
            _ = try await connection.run([insert(2), insert(3)])
            #expect(try await rows(connection) == 3)
        }
    }

    @Test func `round trips sent at once each prepare or reuse, even after a skipped preparation`() async throws {
        try await withTable { connection in
            try await withThrowingTaskGroup { group in
                group.addTask { _ = try? await connection.run([.simple("SELECT 1/0"), insert(0)]) }  // fails on purpose
                for value in 1...20 {
                    group.addTask { _ = try await connection.run([insert(Int64(value))]) }
                }
                try await group.waitForAll()
            }
            #expect(try await rows(connection) == 20)
        }
    }

    @Test func `an explicit transaction spans round trips`() async throws {
        try await TestDatabase.withPool(connections: 2) { pool in
            try await pool.withConnection { writer in
                _ = try await writer.run("DROP TABLE IF EXISTS spanning", "CREATE TABLE spanning (i integer)")
                _ = try await writer.run("BEGIN", "SET LOCAL lock_timeout = '2s'", "INSERT INTO spanning VALUES (1)")
                try await pool.withConnection { (reader) async throws in
                    #expect(try await reader.one("SELECT count(*) FROM spanning").int64(0, 0) == 0)
                    #expect(try await writer.one("SHOW lock_timeout").text(0, 0) == "2s")
                    _ = try await writer.run("INSERT INTO spanning VALUES (2)", "COMMIT")
                    #expect(try await reader.one("SELECT count(*) FROM spanning").int64(0, 0) == 2)
                }
                _ = try await writer.run("DROP TABLE spanning")
            }
        }
    }

    @Test func `a connection returned inside a transaction is rolled back, not replaced`() async throws {
        try await TestDatabase.withPool { pool in
            let first = try await pool.withConnection { connection in
                _ = try await connection.run("CREATE TEMP TABLE t (i integer)")
                _ = try await connection.run("BEGIN", "INSERT INTO t VALUES (1)")
                return try await connection.backendPID
            }
            try await pool.withConnection { (connection) async throws in
                #expect(try await connection.backendPID == first)
                #expect(try await connection.one("SELECT count(*) FROM t").int64(0, 0) == 0)
                let error = await postgresError { _ = try await connection.run("BEGIN", "SELECT 1/0") }
                #expect(error?.isData == true)
            }
            try await pool.withConnection { (connection) async throws in
                #expect(try await connection.backendPID == first)
                #expect(try await connection.one("SELECT count(*) FROM t").int64(0, 0) == 0)
            }
        }
    }

    @Test func `large answers and requests pass whole`() async throws {
        try await TestDatabase.withConnection { connection in
            var parameters = Parameters()
            parameters.add(bytes: (0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let echo = PreparedStatement(name: "echo", sql: "SELECT $1, $1")
            let result = try #require(try await connection.run([Statement(echo, parameters)]).first)
            #expect(try result.bytes(0, 1).count == 8_000_000)
            #expect(try result.bytes(0, 1)[7_999_999] == UInt8(truncatingIfNeeded: 7_999_999 &* 31))
        }
    }

    @Test func `requests beyond the bounds are refused and nothing is sent`() async throws {
        try await TestDatabase.withPool {
            $0.requestBytesMax = 1_000
        } _: { pool in
            try await pool.withConnection { (connection) async throws in
                var large = Parameters()
                large.add(bytes: [UInt8](repeating: 0, count: 1_001))
                let statement = Statement(PreparedStatement(name: "s", sql: "SELECT $1"), large)
                let error = await postgresError { _ = try await connection.run([statement]) }
                #expect(error == .tooLarge("more than 1000 bytes in one round trip"))
                #expect(try await connection.one("SELECT 1").rowCount == 1)
            }
        }
    }

    @Test func `a statement unknown to the server costs the connection, not the pool`() async throws {
        try await TestDatabase.withPool { pool in
            let select = Statement(PreparedStatement(name: "one", sql: "SELECT 1"))
            let first = try await pool.withConnection { connection in
                _ = try await connection.run([select])
                _ = try await connection.run("DEALLOCATE ALL")
                let error = await postgresError { _ = try await connection.run([select]) }
                guard case .server("26000", _) = error else {
                    Issue.record("not refused: \(String(describing: error))")
                    return Int32(0)
                }
                return try await connection.backendPID
            }
            try await pool.withConnection { (connection) async throws in
                #expect(try await connection.backendPID != first)
                #expect(try await connection.run([select]).count == 1)
            }
        }
    }
}
