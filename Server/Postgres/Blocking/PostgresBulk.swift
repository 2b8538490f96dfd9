import CPostgres

/// A connection that loads and reads whole tables by COPY, in PostgreSQL's text form.
///
/// Lives for one call of ``run(_:timeout:_:)``, whose thread alone may use it. After an error it is to be given up: the server
/// undoes what was not committed.
package final class PostgresBulk {
    /// Bytes that are gathered before they are sent.
    private static let chunkBytes = 64 << 10

    private let session: BlockingSession
    private let deadline: ContinuousClock.Instant
    private var chunk: [UInt8] = []

    private init(_ session: BlockingSession, until deadline: ContinuousClock.Instant) {
        self.session = session
        self.deadline = deadline
    }

    /// Runs `body` with a connection of its own on a thread of its own; cancelling the task closes the connection.
    ///
    /// - Parameter timeout: time for the whole of it, connecting excluded.
    /// - Throws: `PostgresError`; `CancellationError`; what `body` throws.
    package static func run<Value: Sendable>(
        _ configuration: PostgresConfiguration, timeout: Duration,
        _ body: @escaping @Sendable (PostgresBulk) throws -> Value
    ) async throws -> Value {
        let signal = try WakeSignal()
        return try await withTaskCancellationHandler {
            do {
                return try await PosixThread.run {
                    Result {
                        let connection = try Dial.connect(configuration, signal: signal)
                        let session = BlockingSession(connection: connection, signal: signal)
                        return try body(PostgresBulk(session, until: ContinuousClock.now + timeout))
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

    /// Runs a script in the simple query protocol.
    ///
    /// - Returns: the first value of the last statement that returned rows.
    @discardableResult
    package func execute(_ sql: String) throws(PostgresError) -> String? {
        try session.execute(sql, until: deadline)
    }

    /// Sends a `COPY … FROM STDIN` and its rows, with memory for a few of them.
    ///
    /// - Parameter rows: calls ``put(_:)`` for each row.
    /// - Throws: `.server` for a row that the server refuses; what `rows` throws, after which nothing more can be sent.
    package func copyIn(_ sql: String, _ rows: () throws -> Void) throws {
        try begin(sql, PGRES_COPY_IN)
        chunk.removeAll(keepingCapacity: true)
        try rows()
        try sendChunk()
        guard PQputCopyEnd(session.connection.raw, nil) == 1 else { throw session.lost }
        _ = try session.answer(until: deadline)
    }

    /// Sends a line of the text form with its line feed, within ``copyIn(_:_:)``.
    package func put(_ line: [UInt8]) throws(PostgresError) {
        chunk += line
        if chunk.count >= Self.chunkBytes { try sendChunk() }
    }

    /// Runs a `COPY … TO STDOUT`.
    ///
    /// - Parameter each: receives one line of the text form with its line feed. The buffer must not leave it.
    package func copyOut(_ sql: String, _ each: (UnsafeRawBufferPointer) throws -> Void) throws {
        try begin(sql, PGRES_COPY_OUT)
        while true {
            var line: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(session.connection.raw, &line, 1)
            switch count {
            case 1...:
                defer { PQfreemem(line) }
                try each(UnsafeRawBufferPointer(start: line, count: Int(count)))
            case 0:
                try session.wait(.reading, until: deadline)
                guard PQconsumeInput(session.connection.raw) == 1 else { throw session.lost }
            default:
                // The end, or an error, which the result has.
                return _ = try session.answer(until: deadline)
            }
        }
    }

    private func begin(_ sql: String, _ status: ExecStatusType) throws(PostgresError) {
        guard PQsendQuery(session.connection.raw, sql) == 1 else { throw session.lost }
        _ = try session.answer(until: deadline, upTo: status)
    }

    private func sendChunk() throws(PostgresError) {
        guard !chunk.isEmpty else { return }
        let queued = chunk.withUnsafeBytes { bytes in
            PQputCopyData(
                session.connection.raw, bytes.bindMemory(to: CChar.self).baseAddress, CInt(clamping: bytes.count))
        }
        guard queued == 1 else { throw session.lost }
        chunk.removeAll(keepingCapacity: true)
        try session.send(until: deadline)
    }
}
