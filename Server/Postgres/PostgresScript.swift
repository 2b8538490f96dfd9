/// Scripts of many statements, such as migrations, on a connection of their own.
package enum PostgresScript {
    /// Runs the script in the simple query protocol, on a thread of its own, and drops its rows.
    ///
    /// Without `BEGIN` and `COMMIT` in it the whole script is one transaction. Cancelling the task closes the
    /// connection; the server then undoes what was not committed.
    ///
    /// - Parameters:
    ///   - sql: one or more statements, without parameters; never built from input.
    ///   - timeout: time for the whole script, connecting excluded.
    /// - Throws: `.unavailable`, `.connectionLost`, `.timeout`, `.server` for the first error; `CancellationError`.
    package static func run(
        _ configuration: PostgresConfiguration, sql: String, timeout: Duration = .seconds(600)
    ) async throws {
        let signal = try WakeSignal()
        try await withTaskCancellationHandler {
            do {
                try await PosixThread.run {
                    Result {
                        let connection = try Dial.connect(configuration, signal: signal)
                        let session = BlockingSession(connection: connection, signal: signal)
                        try session.execute(sql, until: ContinuousClock.now + timeout)
                    }
                }
            } catch PostgresError.closed {
                // Only the cancellation handler stops this signal.
                throw CancellationError()
            }
        } onCancel: {
            signal.stop()
        }
    }
}
