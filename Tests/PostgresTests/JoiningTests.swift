import Testing

@testable import TidemarkPostgres

@Suite(.enabled(if: TestDatabase.isGiven), .timeLimit(.minutes(5)))
struct `Joining a lease` {
    /// Runs `body` while the holder of the pool's connection waits for a lock, in a transaction that ends with `last`.
    /// Then releases the lock and returns how that transaction ended.
    private func whileHolderWaits(
        _ pool: PostgresPool, toRun last: String, _ body: (PostgresConnection) async throws -> Void
    ) async throws -> PostgresError? {
        try await TestDatabase.withConnection { watcher in
            let lock = "SELECT pg_advisory_xact_lock(\(Int64.random(in: 1 ... .max)))"
            _ = try await watcher.run("BEGIN", lock)
            return try await pool.withConnection { holder in
                async let end = postgresError { _ = try await holder.run("BEGIN", lock, last, "COMMIT") }
                try await eventually { holder.canBeJoined }
                try await body(holder)
                _ = try await watcher.run("COMMIT")
                return await end
            }
        }
    }

    @Test func `runs statements behind those of the holder, though these have not ended`() async throws {
        try await TestDatabase.withPool { pool in
            try await withThrowingTaskGroup { group in
                let (joined, join) = AsyncStream.makeStream(of: Void.self)
                let end = try await whileHolderWaits(
                    pool, toRun: "SELECT set_config('tidemark.mark', 'here', false)"
                ) { holder in
                    group.addTask {
                        let mark = try await pool.withConnection(joining: holder) { connection in
                            join.finish()
                            return try await connection.one("SELECT current_setting('tidemark.mark')").text(0, 0)
                        }
                        #expect(mark == "here")
                    }
                    for await _ in joined {}
                }
                #expect(end == nil)
                try await group.waitForAll()
            }
        }
    }

    @Test func `keeps the connection from others until the last user has returned it`() async throws {
        try await TestDatabase.withPool { pool in
            let (joined, join) = AsyncStream.makeStream(of: Void.self)
            let (gate, open) = AsyncStream.makeStream(of: Void.self)
            try await withThrowingTaskGroup { group in
                try await pool.withConnection { holder in
                    _ = try await holder.run("SELECT 1")
                    group.addTask {
                        let answer = try await pool.withConnection(joining: holder) { connection in
                            join.finish()
                            for await _ in gate {}
                            return try await connection.one("SELECT 2").int32(0, 0)
                        }
                        #expect(answer == 2)
                    }
                    for await _ in joined {}
                }
                #expect(pool.snapshot.leased == 1)
                open.finish()
                try await group.waitForAll()
            }
            #expect(pool.snapshot.leased == 0)
        }
    }

    @Test func `is refused before the holder sent something, and after it returned the connection`() async throws {
        try await TestDatabase.withPool { pool in
            let connection = try await pool.withConnection { holder in
                #expect(try await pool.withConnection(joining: holder) { _ in } == nil)
                _ = try await holder.run("SELECT 1")
                #expect(holder.canBeJoined)
                return holder
            }
            #expect(connection.hasEnded)
            #expect(try await pool.withConnection(joining: connection) { _ in } == nil)
        }
    }

    @Test func `is refused while the holder is inside a transaction`() async throws {
        try await TestDatabase.withPool { pool in
            try await pool.withConnection { holder in
                _ = try await holder.run("BEGIN")
                #expect(try await pool.withConnection(joining: holder) { _ in } == nil)
            }
        }
    }

    @Test func `is refused while others wait for a connection`() async throws {
        try await TestDatabase.withPool { pool in
            try await withThrowingTaskGroup { group in
                try await pool.withConnection { holder in
                    _ = try await holder.run("SELECT 1")
                    group.addTask { try await pool.withConnection { _ in } }
                    try await eventually { pool.snapshot.waiting == 1 }
                    #expect(try await pool.withConnection(joining: holder) { _ in } == nil)
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `ends with state 25P02 when the holder's transaction fails, and the connection comes back clean`()
        async throws
    {
        try await TestDatabase.withPool { pool in
            try await withThrowingTaskGroup { group in
                let (joined, join) = AsyncStream.makeStream(of: Void.self)
                let end = try await whileHolderWaits(pool, toRun: "SELECT 1 / 0") { holder in
                    group.addTask {
                        let error = await postgresError {
                            _ = try await pool.withConnection(joining: holder) { connection in
                                join.finish()
                                return try await connection.run("BEGIN", "SELECT 1", "COMMIT")
                            }
                        }
                        guard case .server("25P02", _)? = error else {
                            Issue.record("ended with \(String(describing: error))")
                            return
                        }
                    }
                    for await _ in joined {}
                }
                guard case .server("22012", _)? = end else {
                    Issue.record("the holder ended with \(String(describing: end))")
                    return
                }
                try await group.waitForAll()
            }
            _ = try await pool.withConnection { try await $0.run("BEGIN", "SELECT 1", "COMMIT") }
        }
    }
}
