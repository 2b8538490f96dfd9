import Testing

@testable import TidemarkPostgres

@Suite(.enabled(if: TestDatabase.isGiven), .timeLimit(.minutes(5)))
struct `A lost connection` {
    private static let sleep = Statement(PreparedStatement(name: "sleep", sql: "SELECT pg_sleep(30)"))
    private static let one = Statement(PreparedStatement(name: "one", sql: "SELECT 1"))

    @Test func `fails everything in flight and is replaced, with statements prepared anew`() async throws {
        try await TestDatabase.withPool { pool in
            try await TestDatabase.withConnection { killer in
                let victim = try await pool.withConnection { connection in
                    _ = try await connection.run([Self.one])
                    let victim = try await connection.backendPID
                    await withTaskGroup { group in
                        for statement in [Self.sleep, Self.one] {
                            group.addTask {
                                let error = await postgresError { _ = try await connection.run([statement]) }
                                guard case .connectionLost = error else {
                                    Issue.record("not connectionLost: \(String(describing: error))")
                                    return
                                }
                            }
                        }
                        group.addTask {
                            await #expect(throws: Never.self) {
                                try await killer.waitUntilSleeping(victim)
                                _ = try await killer.run("SELECT pg_terminate_backend(\(victim))")
                            }
                        }
                    }
                    let late = await postgresError { _ = try await connection.run([Self.one]) }
                    guard case .unavailable = late else {
                        Issue.record("a lost connection took another request: \(String(describing: late))")
                        return victim
                    }
                    return victim
                }
                try await pool.withConnection { (connection) async throws in
                    #expect(try await connection.backendPID != victim)
                    #expect(try await connection.run([Self.one]).count == 1)
                }
            }
        }
    }

    @Test func `is noticed while idle`() async throws {
        try await TestDatabase.withPool { pool in
            let victim = try await pool.withConnection { try await $0.backendPID }
            try await TestDatabase.withConnection { killer in
                _ = try await killer.run("SELECT pg_terminate_backend(\(victim), 10000)")
            }
            try await eventually { pool.snapshot.connected == 1 && pool.snapshot.leased == 0 }
            // Either on the new connection, or after one failure of the old one that the reactor had not noticed yet.
            try await eventually {
                guard let pid = try? await pool.withConnection({ try await $0.backendPID }) else { return false }
                return pid != victim
            }
        }
    }

    @Test func `results from a silence longer than the operation timeout`() async throws {
        try await TestDatabase.withPool {
            $0.operationTimeout = .seconds(1)
        } _: { pool in
            let error = await postgresError {
                try await pool.withConnection { _ = try await $0.run([Self.sleep]) }
            }
            #expect(error == .timeout)
            let results = try await pool.withConnection { try await $0.run([Self.one]) }
            #expect(results.count == 1)
        }
    }

    @Test func `follows the cancellation of the task that waits for it`() async throws {
        try await TestDatabase.withPool { pool in
            let (pids, pid) = AsyncStream<Int32>.makeStream()
            try await TestDatabase.withConnection { watcher in
                let work = Task {
                    try await pool.withConnection { connection in
                        pid.yield(try await connection.backendPID)
                        _ = try await connection.run([Self.sleep])
                    }
                }
                let victim = try #require(await pids.first { _ in true })
                try await watcher.waitUntilSleeping(victim)
                work.cancel()
                await #expect(throws: CancellationError.self) { try await work.value }
                #expect(try await pool.withConnection { try await $0.backendPID } != victim)
                _ = try await watcher.run("SELECT pg_terminate_backend(\(victim))")
            }
        }
    }

    @Test func `follows at once, even if the lease goes on`() async throws {
        try await TestDatabase.withPool { pool in
            try await TestDatabase.withConnection { watcher in
                try await pool.withConnection { connection in
                    let victim = try await connection.backendPID
                    let child = Task { _ = try await connection.run([Self.sleep]) }
                    try await watcher.waitUntilSleeping(victim)
                    child.cancel()
                    await #expect(throws: CancellationError.self) { try await child.value }
                    let error = await postgresError { _ = try await connection.run([Self.one]) }
                    #expect(error == .unavailable("the connection was lost before sending"))
                    _ = try await watcher.run("SELECT pg_terminate_backend(\(victim))")
                }
            }
        }
    }

    @Test func `undoes the open transaction of a cancelled task`() async throws {
        try await TestDatabase.withPool(connections: 1) { pool in
            let (opened, open) = AsyncStream<Void>.makeStream()
            let work = Task {
                try await pool.withConnection { connection in
                    _ = try await connection.run("BEGIN", "SELECT pg_advisory_xact_lock(4711)")
                    open.yield()
                    try await eventually { Task.isCancelled }
                }
            }
            _ = await opened.first { _ in true }
            work.cancel()
            try await work.value
            try await TestDatabase.withConnection { other in
                // Waits for the lock, so it returns only once the transaction has ended.
                _ = try await other.run("SELECT pg_advisory_xact_lock(4711)")
            }
            #expect(try await pool.withConnection { try await $0.run([Self.one]) }.count == 1)
        }
    }
}
