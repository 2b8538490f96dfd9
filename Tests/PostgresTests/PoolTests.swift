import Logging
import Testing

@testable import TidemarkPostgres

@Suite(.enabled(if: TestDatabase.isGiven), .timeLimit(.minutes(5)))
struct `The pool` {
    @Test func `lends one connection to one caller at a time, in the order of requests`() async throws {
        let (served, serve) = AsyncStream<Int>.makeStream()
        try await TestDatabase.withPool { pool in
            try await withThrowingTaskGroup { group in
                try await pool.withConnection { holder in
                    for number in 1...5 {
                        group.addTask {
                            try await pool.withConnection { connection in
                                serve.yield(number)
                                _ = try await connection.run("SELECT 1")
                                #expect(pool.snapshot.leased == 1)
                            }
                        }
                        try await eventually { pool.snapshot.waiting == number }
                    }
                    _ = try await holder.run("SELECT 1")
                    serve.yield(0)
                }
                try await group.waitForAll()
            }
        }
        serve.finish()
        let order = await served.reduce(into: []) { $0.append($1) }
        #expect(order == [0, 1, 2, 3, 4, 5])
    }

    @Test func `refuses a caller when too many wait already`() async throws {
        try await TestDatabase.withPool {
            $0.waitersMax = 1
        } _: { pool in
            try await withThrowingTaskGroup { group in
                try await pool.withConnection { _ in
                    group.addTask { try await pool.withConnection { _ in } }
                    try await eventually { pool.snapshot.waiting == 1 }
                    let error = await postgresError { try await pool.withConnection { _ in } }
                    #expect(error == .overloaded("1 callers wait for a connection"))
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `gives up on a caller when all connections stay in use`() async throws {
        try await TestDatabase.withPool {
            $0.leaseTimeout = .milliseconds(200)
        } _: { pool in
            try await eventually { pool.snapshot.connected == 1 }
            try await pool.withConnection { _ in
                let error = await postgresError { try await pool.withConnection { _ in } }
                #expect(error == .overloaded("all 1 connections stayed in use"))
            }
        }
    }

    @Test func `lets a waiting caller be cancelled`() async throws {
        try await TestDatabase.withPool { pool in
            try await pool.withConnection { _ in
                let waiter = Task { try await pool.withConnection { _ in } }
                try await eventually { pool.snapshot.waiting == 1 }
                waiter.cancel()
                await #expect(throws: CancellationError.self) { try await waiter.value }
                #expect(pool.snapshot.waiting == 0)
            }
        }
    }

    @Test func `does not make a caller wait whose task was cancelled before its request`() async throws {
        try await TestDatabase.withPool { pool in
            try await pool.withConnection { _ in
                let late = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    try await pool.withConnection { _ in }
                }
                await #expect(throws: CancellationError.self) { try await late.value }
            }
        }
    }

    @Test func `keeps a connection from being used after its lease`() async throws {
        try await TestDatabase.withPool { pool in
            let kept = try await pool.withConnection { $0 }
            let error = await postgresError { _ = try await kept.run("SELECT 1") }
            #expect(error == .closed)
        }
    }

    @Test func `refuses more round trips at once on one connection than allowed`() async throws {
        try await TestDatabase.withPool {
            $0.pipelineDepthMax = 1
        } _: { pool in
            try await TestDatabase.withConnection { watcher in
                try await pool.withConnection { connection in
                    let pid = try await connection.backendPID
                    async let slow = postgresError { _ = try await connection.run("SELECT pg_sleep(30)") }
                    try await watcher.waitUntilSleeping(pid)
                    let error = await postgresError { _ = try await connection.run("SELECT 1") }
                    #expect(error == .overloaded("1 round trips on one connection"))
                    _ = try await watcher.run("SELECT pg_cancel_backend(\(pid))")
                    #expect(await slow != nil)
                }
            }
        }
    }

    @Test func `lets leases finish when it is shut down, and refuses new ones`() async throws {
        let pool = try PostgresPool(configuration: TestDatabase.configuration(), logger: TestDatabase.logger)
        try await withThrowingTaskGroup { group in
            group.addTask { try await pool.run() }
            try await pool.withConnection { (connection) async throws in
                pool.shutdown()
                let error = await postgresError { try await pool.withConnection { _ in } }
                #expect(error == .closed)
                #expect(try await connection.one("SELECT 1").rowCount == 1)
            }
            try await group.waitForAll()
        }
        #expect(pool.snapshot == PostgresPool.Snapshot(connected: 0, leased: 0, waiting: 0))
    }

    @Test func `cancels a round trip when its task is cancelled`() async throws {
        let pool = try PostgresPool(configuration: TestDatabase.configuration(), logger: TestDatabase.logger)
        let running = Task { try await pool.run() }
        try await TestDatabase.withConnection { watcher in
            let error = await postgresError {
                try await pool.withConnection { connection in
                    let pid = try await connection.backendPID
                    async let slow: Void = { _ = try await connection.run("SELECT pg_sleep(30)") }()
                    try await watcher.waitUntilSleeping(pid)
                    running.cancel()
                    try await slow
                }
            }
            #expect(error == .connectionLost("the pool was shut down"))
        }
        try await running.value
    }

    @Test func `serves many callers with few connections`() async throws {
        let total = try await TestDatabase.withPool(connections: 4) { pool in
            try await withThrowingTaskGroup { group in
                for number in 0..<400 {
                    group.addTask {
                        var parameters = Parameters()
                        parameters.add(Int64(number))
                        let statement = Statement(PreparedStatement(name: "n", sql: "SELECT $1 + 1"), parameters)
                        return try await pool.withConnection { try await $0.run([statement])[0].int64(0, 0) }
                    }
                }
                return try await group.reduce(0, +)
            }
        }
        #expect(total == (1...400).reduce(0, +))
    }
}

@Suite(.timeLimit(.minutes(5)))
struct `The pool without a server` {
    @Test func `tells waiting callers why there is no connection`() async throws {
        var configuration = try PostgresConfiguration(
            connectionString: "host=127.0.0.1 port=1 user=nobody password=hunter2")
        configuration.leaseTimeout = .seconds(1)
        let pool = try PostgresPool(configuration: configuration, logger: TestDatabase.logger)
        let error = try await TestDatabase.running(pool) { pool in
            await postgresError { try await pool.withConnection { _ in } }
        }
        guard case .unavailable(let reason) = error else {
            Issue.record("not unavailable: \(String(describing: error))")
            return
        }
        #expect(reason.contains("refused") && !reason.contains("hunter2"))
    }

    @Test func `ends at once when it was shut down before it ran`() async throws {
        let configuration = try PostgresConfiguration(connectionString: "host=127.0.0.1 port=1")
        let pool = try PostgresPool(configuration: configuration, logger: TestDatabase.logger)
        pool.shutdown()
        try await pool.run()
        let error = await postgresError { try await pool.withConnection { _ in } }
        #expect(error == .closed)
    }
}
