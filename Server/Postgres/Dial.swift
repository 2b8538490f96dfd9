import CPostgres

/// Makes connections without ever blocking longer than its deadline (but for libpq's name resolution): on a thread of
/// this module, never on the cooperative pool.
enum Dial {
    /// Connects, authenticates and switches to non-blocking mode.
    ///
    /// - Throws: `.unavailable` when the server cannot be reached or refuses; `.closed` once the signal is stopped.
    static func connect(
        _ configuration: PostgresConfiguration, signal: WakeSignal
    ) throws(PostgresError) -> LibpqConnection {
        guard let raw = start(configuration) else { throw .unavailable("out of memory") }
        let connection = LibpqConnection(raw)
        let deadline = ContinuousClock.now + configuration.connectTimeout

        // libpq requires the first wait to be one for "writing".
        var polling = PGRES_POLLING_WRITING
        while polling != PGRES_POLLING_OK {
            guard polling != PGRES_POLLING_FAILED, PQstatus(raw) != CONNECTION_BAD, let socket = connection.socket
            else { throw .unavailable(connection.failureReason) }
            // The socket may change from round to round: each host of the connection string has its own.
            let interest: SocketInterest = polling == PGRES_POLLING_READING ? .reading : .writing
            switch signal.wait(for: socket, interest, until: deadline) {
            case .ready: polling = PQconnectPoll(raw)
            case .woken: continue
            case .stopped: throw .closed
            case .timedOut: throw .unavailable("no answer to the attempt to connect in time")
            }
        }
        PQsetNoticeReceiver(raw, { _, _ in }, nil)  // libpq's own prints notices to standard error
        guard PQsetnonblocking(raw, 1) == 0 else { throw .unavailable(connection.failureReason) }
        if let beginning = configuration.beginning {
            try BlockingSession(connection: connection, signal: signal).execute(beginning, until: deadline)
        }
        return connection
    }

    private static func start(_ configuration: PostgresConfiguration) -> OpaquePointer? {
        // A later entry wins over an earlier one: the connection string over our defaults, our name over it.
        let settings: [(String, String)] =
            [
                ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
                ("dbname", configuration.connectionString),
                ("client_encoding", "UTF8"), ("application_name", configuration.applicationName),
            ] + (configuration.database.map { [("dbname", $0)] } ?? [])
        let texts = settings.flatMap { [Array($0.0.utf8CString), Array($0.1.utf8CString)] }
        let flat = texts.flatMap { $0 }
        return flat.withUnsafeBufferPointer { bytes in
            var keywords: [UnsafePointer<CChar>?] = []
            var values: [UnsafePointer<CChar>?] = []
            var offset = 0
            for (index, text) in texts.enumerated() {
                let pointer = bytes.baseAddress?.advanced(by: offset)
                if index.isMultiple(of: 2) { keywords.append(pointer) } else { values.append(pointer) }
                offset += text.count
            }
            keywords.append(nil)
            values.append(nil)
            return PQconnectStartParams(keywords, values, 1)
        }
    }
}
