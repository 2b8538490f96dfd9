@testable import TidemarkPostgres

/// Scripts of many statements on a connection of their own.
enum PostgresScript {
    /// Runs the script in the simple query protocol, on a thread of its own, and drops its rows. Without `BEGIN` and
    /// `COMMIT` in it the whole script is one transaction.
    static func run(_ configuration: PostgresConfiguration, sql: String) async throws {
        let signal = try WakeSignal()
        try await PosixThread.run {
            Result {
                let connection = try Dial.connect(configuration, signal: signal)
                let session = BlockingSession(connection: connection, signal: signal)
                _ = try session.execute(sql, until: ContinuousClock.now + .seconds(600))
            }
        }
    }
}
