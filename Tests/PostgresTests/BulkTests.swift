import Testing

@testable import TidemarkPostgres

@Suite(.enabled(if: TestDatabase.isGiven), .timeLimit(.minutes(5)))
struct `A bulk connection` {
    private func run<Value: Sendable>(
        timeout: Duration = .seconds(60), _ body: @escaping @Sendable (PostgresBulk) throws -> Value
    ) async throws -> Value {
        try await PostgresBulk.run(TestDatabase.configuration(), timeout: timeout, body)
    }

    @Test func `copies many rows in and out, more than the socket holds at once`() async throws {
        let (rows, bytes, last) = try await run { bulk in
            try bulk.execute("BEGIN; CREATE TEMPORARY TABLE bulk (n bigint, t text)")
            let text = String(repeating: "x", count: 1_000)
            try bulk.copyIn("COPY bulk FROM STDIN") {
                for number in 0..<20_000 { try bulk.put(Array("\(number)\t\(text)\\n\(number)\n".utf8)) }
            }
            var (rows, bytes, last) = (0, 0, "")
            try bulk.copyOut("COPY (SELECT t, n FROM bulk ORDER BY n) TO STDOUT") { line in
                rows += 1
                bytes += line.count
                last = String(decoding: line.suffix(12), as: UTF8.self)
            }
            // The connection goes on.
            #expect(try bulk.execute("SELECT count(*) FROM bulk") == "20000")
            return (rows, bytes, last)
        }
        #expect(rows == 20_000 && bytes > 20_000_000 && last == "19999\t19999\n")
    }

    @Test func `names what the server refuses of a row, and leaves nothing`() async throws {
        let error = await postgresError {
            try await run { bulk in
                try bulk.execute("BEGIN; CREATE TABLE bulk_refused (n bigint)")
                try bulk.copyIn("COPY bulk_refused FROM STDIN") {
                    for _ in 0..<100_000 { try bulk.put(Array("1\n".utf8)) }
                    try bulk.put(Array("none\n".utf8))
                    for _ in 0..<100_000 { try bulk.put(Array("1\n".utf8)) }
                }
            }
        }
        guard case .server("22P02", _) = error else {
            Issue.record("not a refused value: \(String(describing: error))")
            return
        }
        try await TestDatabase.withConnection { connection in
            let isGone = try await connection.one("SELECT to_regclass('bulk_refused') IS NULL").bool(0, 0)
            #expect(isGone)
        }
    }

    @Test func `gives up a copy whose rows fail, and refuses one that is none`() async throws {
        struct Cut: Error {}
        await #expect(throws: Cut.self) {
            try await run { bulk in
                try bulk.execute("CREATE TEMPORARY TABLE bulk (n bigint)")
                try bulk.copyIn("COPY bulk FROM STDIN") { throw Cut() }
            }
        }
        await #expect(throws: PostgresError.self) { try await run { try $0.copyIn("COPY nothing FROM STDIN") {} } }
        await #expect(throws: PostgresError.self) {
            try await run { try $0.copyOut("COPY nothing TO STDOUT") { _ in } }
        }
        await #expect(throws: PostgresError.self) { _ = try await run { try $0.execute("COPY pg_class TO STDOUT") } }
    }

    @Test func `ends with its time`() async throws {
        let error = await postgresError {
            try await run(timeout: .milliseconds(200)) { bulk in
                try bulk.copyOut("COPY (SELECT pg_sleep(30)) TO STDOUT") { _ in }
            }
        }
        #expect(error == .timeout)
    }
}
