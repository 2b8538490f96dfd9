import CPostgres

/// Blocking libpq work for a thread of its own: simple queries and notifications. The stop signal ends each wait.
struct BlockingSession {
    let connection: LibpqConnection
    let signal: WakeSignal

    /// Runs a script in the simple query protocol and drops its rows, except for the first value.
    ///
    /// - Returns: the first value of the last statement that returned rows; `nil` for none, or NULL.
    /// - Throws: the first `.server` error; `.timeout`; `.connectionLost`; `.closed` once the signal is stopped.
    @discardableResult
    func execute(_ sql: String, until deadline: ContinuousClock.Instant) throws(PostgresError) -> String? {
        guard PQsendQuery(connection.raw, sql) == 1 else { throw lost }
        return try answer(until: deadline)
    }

    /// Reads the results of what was sent, up to the end or up to where a COPY begins.
    ///
    /// - Parameter copy: the status of the result that begins the COPY; `nil` where none may begin.
    func answer(
        until deadline: ContinuousClock.Instant, upTo copy: ExecStatusType? = nil
    ) throws(PostgresError) -> String? {
        var failure: PostgresError?
        var first: String?
        while true {
            try send(until: deadline)
            while PQisBusy(connection.raw) == 1 {
                try wait(.reading, until: deadline)
                guard PQconsumeInput(connection.raw) == 1 else { throw lost }
            }
            guard let raw = PQgetResult(connection.raw) else { break }
            if PQntuples(raw) > 0, PQnfields(raw) > 0 {
                first = PQgetisnull(raw, 0, 0) == 1 ? nil : PQgetvalue(raw, 0, 0).map { String(cString: $0) }
            }
            let result = ResultSet(raw)
            switch result.status {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                continue
            case copy:
                return nil
            case PGRES_FATAL_ERROR:
                guard let sqlState = result.sqlState else { throw lost }
                failure = failure ?? .server(sqlState: sqlState, message: result.serverMessage)
            default:
                // COPY needs further messages, which a script cannot send.
                throw .server(sqlState: "0A000", message: "COPY cannot be part of a script")
            }
        }
        if let failure { throw failure }
        return first
    }

    /// Waits for the next notifications; returns none when `deadline` passes first.
    func notifications(until deadline: ContinuousClock.Instant?) throws(PostgresError) -> [PostgresNotification] {
        var found = takeNotifications()
        while found.isEmpty {
            guard let socket = connection.socket else { throw lost }
            switch signal.wait(for: socket, until: deadline) {
            case .ready: break
            case .woken: continue
            case .stopped: throw .closed
            case .timedOut: return []
            }
            guard PQconsumeInput(connection.raw) == 1 else { throw lost }
            found = takeNotifications()
        }
        return found
    }

    private func takeNotifications() -> [PostgresNotification] {
        var found: [PostgresNotification] = []
        while let raw = PQnotifies(connection.raw) {
            found.append(
                PostgresNotification(
                    channel: String(cString: raw.pointee.relname), payload: String(cString: raw.pointee.extra)))
            PQfreemem(raw)
        }
        return found
    }

    /// Waits until the server has taken all that was queued.
    func send(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        while true {
            switch PQflush(connection.raw) {
            case 0: return
            case 1:
                // The server may accept more only after its answers are read.
                try wait(.both, until: deadline)
                guard PQconsumeInput(connection.raw) == 1 else { throw lost }
            default: throw lost
            }
        }
    }

    /// Waits for the connection's socket.
    func wait(_ interest: SocketInterest, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        guard let socket = connection.socket else { throw lost }
        while true {
            switch signal.wait(for: socket, interest, until: deadline) {
            case .ready: return
            case .woken: continue
            case .stopped: throw .closed
            case .timedOut: throw .timeout
            }
        }
    }

    /// The error for a connection that libpq gave up.
    var lost: PostgresError { .connectionLost(connection.failureReason) }
}
