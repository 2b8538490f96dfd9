import Foundation

@testable import TidemarkTerminal

/// The PostgreSQL that tests may use.
enum TestPostgres {
    /// The exported keyword string, as the URI that commands accept; `nil` when none is set.
    static var uri: String? { ProcessInfo.processInfo.environment["TIDEMARK_TEST_POSTGRES"].map(uri) }

    /// The URI of another database on the same server.
    static func uri(of database: String) throws -> String {
        guard let uri, var parts = URLComponents(string: uri) else {
            throw ServerProcessError("no PostgreSQL is named")
        }
        parts.path = "/" + database
        guard let text = parts.string else { throw ServerProcessError("\(database) is no name of a database") }
        return text
    }

    /// Runs a statement on the configured database.
    static func run(_ sql: String) async throws {
        try await run("/usr/bin/env", ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", uri ?? "", "-c", sql])
    }

    /// Runs `body` with an empty database, and drops it afterwards.
    static func withDatabase(_ body: (_ uri: String) async throws -> Void) async throws {
        let name = "empty_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        try await run("CREATE DATABASE \(name)")
        do { try await body(try uri(of: name)) } catch {
            try await run("DROP DATABASE \(name) WITH (FORCE)")
            throw error
        }
        try await run("DROP DATABASE \(name) WITH (FORCE)")
    }

    /// Runs a program to its end, and returns its last lines.
    @discardableResult
    static func run(_ program: String, _ arguments: [String]) async throws -> [String] {
        let child = try ChildProcess(program, arguments)
        var lines: [String] = []
        for await line in child.lines { lines.append(line) }
        let status = await child.ended()
        guard status == 0 else {
            throw ServerProcessError("\(arguments) ended with \(status): \(lines.joined(separator: "\n"))")
        }
        return lines
    }

    private static func uri(_ connection: String) -> String {
        guard !connection.contains("://") else { return connection }
        let parts = Dictionary(
            connection.split(separator: " ").compactMap { pair in
                let words = pair.split(separator: "=", maxSplits: 1)
                return words.count == 2 ? (String(words[0]), String(words[1])) : nil
            }, uniquingKeysWith: { first, _ in first })
        return "postgres://\(parts["user"] ?? "")@/\(parts["dbname"] ?? "")"
            + "?host=\(parts["host"] ?? "")&port=\(parts["port"] ?? "5432")"
    }
}
