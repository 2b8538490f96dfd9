import Foundation

@testable import TidemarkTerminal

/// A PostgreSQL and its asynchronous standby, as `Tests/Benchmarks/failover.sh` has started them.
struct DatabasePair: Sendable {
    private let folder: String

    /// `nil` when the tests do not run under that script.
    static var given: DatabasePair? {
        ProcessInfo.processInfo.environment["TIDEMARK_FAILOVER"].map { DatabasePair(folder: $0) }
    }

    /// The address of the writable one of the two.
    var uri: String {
        "postgres://tidemark@/tidemark?host=\(folder)/a,\(folder)/b&port=5432,5432&target_session_attrs=read-write"
    }

    /// Runs a step of the script, and returns its output.
    @discardableResult
    func step(_ name: String) async throws -> String {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Benchmarks/failover.sh").standardizedFileURL.path
        return try await TestPostgres.run("/bin/bash", [script, "step", name, folder]).joined(separator: "\n")
    }

    /// The rows of a query, by columns.
    func rows(_ sql: String) async throws -> [[String]] {
        let answer = try TemporaryFolder("tidemark-rows")
        let path = "\(answer.path)/rows"
        try await TestPostgres.run(
            "/usr/bin/env", ["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-o", path, "-d", uri, "-c", sql])
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    }
}
