import Foundation
import Logging
import Testing
import TidemarkLock
import TidemarkPostgres

@testable import TidemarkPostgresStore

/// A schema that no other test uses, in the database that `TIDEMARK_TEST_POSTGRES` names.
struct TestSchema: Sendable {
    static let logger = Logger(label: "store-contract") { _ in SwiftLogNoOpLogHandler() }
    /// Few connections, since many tests run at once and a server has a hundred by default. A process that shares one
    /// core with all of them may pause for seconds in a transaction: only special tests use timeouts.
    static var options: PostgresStore.Options {
        var options = PostgresStore.Options()
        (options.lockTimeout, options.statementTimeout, options.idleTimeout) = (
            .seconds(120), .seconds(120), .seconds(120)
        )
        options.sequencingConnections = 2
        options.readingConnections = 2
        return options
    }

    /// Limits the tests that have a schema, and therefore connections, at once.
    private static let turnstile = Turnstile(places: 6)

    let name: String

    static var isGiven: Bool { connectionString != nil }
    private static var connectionString: String? { ProcessInfo.processInfo.environment["TIDEMARK_TEST_POSTGRES"] }

    static func make() async throws -> TestSchema {
        await turnstile.enter()
        do {
            let schema = TestSchema(name: "contract_" + UUID().uuidString.lowercased().filter { $0 != "-" }.prefix(20))
            try await PostgresScript.run(schema.configuration(), sql: "CREATE SCHEMA \(schema.name)")
            return schema
        } catch {
            turnstile.leave()
            throw error
        }
    }

    /// True when the database is the coordinator of a Citus, and the stores' tables are spread over its workers:
    /// `deploy/citus.md`.
    static var isSpread: Bool { ProcessInfo.processInfo.environment["TIDEMARK_TEST_CITUS"] == "1" }

    /// Spreads the tables as an operator does, in fewer pieces.
    func spread() async throws {
        let script = URL(filePath: #filePath).appending(path: "../../../deploy/citus.sql").standardizedFileURL
        let text = try String(contentsOf: script, encoding: .utf8)
        // Each step is a transaction of its own, as psql makes it.
        for statement in text.split(separator: ";\n") where statement.contains("SELECT") {
            try await PostgresScript.run(configuration(["citus.shard_count": "2"]), sql: String(statement))
        }
    }

    func drop() async throws {
        defer { Self.turnstile.leave() }
        try await PostgresScript.run(configuration(), sql: "DROP SCHEMA \(name) CASCADE")
    }

    /// Runs `body` with a schema and drops it afterwards.
    static func with(_ body: (TestSchema) async throws -> Void) async throws {
        let schema = try await make()
        do {
            try await body(schema)
        } catch {
            try await schema.drop()
            throw error
        }
        try await schema.drop()
    }

    /// Runs `body` while another connection, which `body` gets, holds the lock of every workspace.
    ///
    /// - Parameters:
    ///   - condition: selects the workspaces to lock.
    ///   - last: runs on that connection before it releases the lock.
    func whileLocked(
        where condition: String = "true", then last: [Statement] = [], _ body: (PostgresConnection) async throws -> Void
    ) async throws {
        // One by one, since a distributed PostgreSQL locks rows on one machine at a time only.
        let names = try await sql("SELECT workspace FROM sync_workspace WHERE \(condition)")
        let locks = names.map { "SELECT * FROM sync_workspace WHERE workspace = '\($0)' FOR UPDATE" }
        try await whileRunning(locks, then: last, body)
    }

    /// Runs `body` while a transaction of another connection, which `body` gets, is open after some statements.
    func whileRunning(
        _ statements: [String], then last: [Statement] = [], _ body: (PostgresConnection) async throws -> Void
    ) async throws {
        var single = try configuration()
        single.connections = 1
        let holder = try PostgresPool(configuration: single, logger: Self.logger)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await holder.run() }
            defer { holder.shutdown() }
            try await holder.withConnection { connection in
                _ = try await connection.run([.simple("BEGIN")] + statements.map { .simple($0) })
                try await body(connection)
                _ = try await connection.run(last + [.simple("COMMIT")])
            }
        }
    }

    /// A configuration for connections that see this schema alone, with further server settings.
    func configuration(_ settings: [String: String] = [:]) throws -> PostgresConfiguration {
        var configuration = try PostgresConfiguration(connectionString: connectionString(settings))
        // Many tests share the machine with one server: waiting is no failure here.
        configuration.leaseTimeout = .seconds(60)
        // The name distinguishes its nodes from those of other tests on the server.
        configuration.applicationName = name
        return configuration
    }

    /// - Parameter keywords: further keywords of libpq, such as another host.
    func connectionString(_ settings: [String: String] = [:], keywords: [String: String] = [:]) throws -> String {
        let given = try #require(Self.connectionString)
        let options = settings.merging(["search_path": name]) { given, _ in given }.sorted { $0.key < $1.key }
            .map { "-c \($0.key)=\($0.value.replacingOccurrences(of: " ", with: "\\ "))" }.joined(separator: " ")
        let all = keywords.merging(["options": options]) { $1 }.sorted { $0.key < $1.key }
        guard given.contains("://") else {
            return ([given] + all.map { "\($0.key)='\($0.value.replacingOccurrences(of: "\\", with: "\\\\"))'" })
                .joined(separator: " ")
        }
        let query = try all.map { key, value in
            let escaped = try #require(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            return "\(key)=\(escaped)"
        }
        return given + (given.contains("?") ? "&" : "?") + query.joined(separator: "&")
    }

    /// Runs statements, each in its own transaction, and returns the first column of the last one's rows as text.
    @discardableResult
    func sql(_ statements: String...) async throws -> [String] {
        var configuration = try configuration()
        configuration.connections = 1
        let pool = try PostgresPool(configuration: configuration, logger: Self.logger)
        return try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await pool.run() }
            defer { pool.shutdown() }
            return try await pool.withConnection { connection in
                var last: ResultSet?
                for statement in statements { last = try await connection.run([.simple(statement)]).last }
                guard let last, last.columnCount > 0 else { return [] }
                return try (0..<last.rowCount).map { try last.text($0, 0) }
            }
        }
    }
}

/// Lets a number of tasks in and makes the others wait in line.
final class Turnstile: Sendable {
    private struct State {
        var places: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Lock<State>

    init(places: Int) { state = Lock(State(places: places)) }

    func enter() async {
        await withCheckedContinuation { continuation in
            let mayEnter = state.withLock { state in
                guard state.places > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.places -= 1
                return true
            }
            if mayEnter { continuation.resume() }
        }
    }

    func leave() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.places += 1
            return nil
        }
        next?.resume()
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test on a Citus: it does, or reads, something of one machine.
    static func onOneMachine(_ reason: Comment) -> Self { .enabled(if: !TestSchema.isSpread, reason) }
}
