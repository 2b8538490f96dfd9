import Foundation
import Logging
import Testing

@testable import TidemarkPostgres

/// The database named by `TIDEMARK_TEST_POSTGRES`; tests that need one are skipped without it.
enum TestDatabase {
    static let connectionString = ProcessInfo.processInfo.environment["TIDEMARK_TEST_POSTGRES"]
    static var isGiven: Bool { connectionString != nil }
    static let logger = Logger(label: "postgres-tests") { _ in SwiftLogNoOpLogHandler() }

    static func configuration(connections: Int = 1) throws -> PostgresConfiguration {
        var configuration = try PostgresConfiguration(connectionString: #require(connectionString))
        configuration.connections = connections
        // Tests share few cores: a deadline for users would measure the machine, not the pool.
        configuration.leaseTimeout = .seconds(60)
        return configuration
    }

    /// Runs `body` with a running pool.
    static func withPool<R>(
        connections: Int = 1, _ adjust: (inout PostgresConfiguration) -> Void = { _ in },
        _ body: (PostgresPool) async throws -> R
    ) async throws -> R {
        var configuration = try configuration(connections: connections)
        adjust(&configuration)
        return try await running(PostgresPool(configuration: configuration, logger: logger), body)
    }

    static func running<R>(_ pool: PostgresPool, _ body: (PostgresPool) async throws -> R) async throws -> R {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await pool.run() }
            defer { pool.shutdown() }
            return try await body(pool)
        }
    }

    /// Runs `body` with one connection.
    static func withConnection<R>(_ body: (PostgresConnection) async throws -> R) async throws -> R {
        try await withPool { pool in try await pool.withConnection(body) }
    }
}

extension PostgresConnection {
    func run(_ sql: String...) async throws -> [ResultSet] {
        try await run(sql.map(Statement.simple))
    }

    func one(_ sql: String) async throws -> ResultSet {
        try #require(try await run([.simple(sql)]).first)
    }

    var backendPID: Int32 {
        get async throws { try await one("SELECT pg_backend_pid()").int32(0, 0) }
    }

    /// Waits until the backend sleeps in `pg_sleep`, which is when a test may act on it.
    func waitUntilSleeping(_ pid: Int32) async throws {
        for _ in 0..<100_000 {
            let asleep = try await one(
                "SELECT count(*) FROM pg_stat_activity WHERE pid = \(pid) AND wait_event = 'PgSleep'"
            )
            if try asleep.int64(0, 0) == 1 { return }
        }
        Issue.record("backend \(pid) never slept")
    }
}

/// The error that `body` throws.
func postgresError(_ body: () async throws -> Void) async -> PostgresError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? PostgresError
    }
}
