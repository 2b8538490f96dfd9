import CPostgres

/// The pooler between this program and PostgreSQL, if any, and the promises of PostgreSQL that it breaks.
///
/// A pooler lends its connections per transaction or per session. In the first case everything that belongs to a
/// session is lost between two transactions: `LISTEN`, prepared statements, settings, advisory locks.
package struct ConnectionProbe: Hashable, Sendable {
    /// The pooler's name for itself; `nil` without a pooler.
    package var pooler: String?
    /// True when two transactions of one connection may run on two connections of the server.
    package var sharesSessions = false
    /// True when a `NOTIFY` reaches the connection that called `LISTEN`.
    package var hears = true
    /// True when a prepared statement can be executed in another transaction.
    package var keepsStatements = true

    /// The longest time from a `NOTIFY` to its arrival.
    private static let hearingMax = Duration.seconds(2)
    private static let statement = "tidemark_probe"

    package init() {}

    /// Probes with two connections, on a thread of its own. Leaves nothing behind, except a `LISTEN` that nobody
    /// receives if sessions are shared.
    ///
    /// - Throws: `PostgresError` when there is no connection.
    package static func run(_ configuration: PostgresConfiguration) async throws -> ConnectionProbe {
        try await PosixThread.run {
            do throws(PostgresError) { return .success(try probe(configuration)) } catch { return .failure(error) }
        }
    }

    private static func probe(_ configuration: PostgresConfiguration) throws(PostgresError) -> ConnectionProbe {
        var found = ConnectionProbe()
        let signal = try WakeSignal()
        let deadline = ContinuousClock.now + configuration.operationTimeout
        func open(_ configuration: PostgresConfiguration) throws(PostgresError) -> BlockingSession {
            BlockingSession(connection: try Dial.connect(configuration, signal: signal), signal: signal)
        }
        let (one, other) = (try open(configuration), try open(configuration))
        let process = try one.execute("SELECT pg_backend_pid()", until: deadline)
        // A pooler reports a number of its own, by which it finds the connection to cancel.
        if process != "\(PQbackendPID(one.connection.raw))" {
            found.pooler = name(configuration, deadline, open)
        }
        found.keepsStatements = prepares(one.connection.raw, Self.statement)
        // While one is idle, a pooler that shares sessions lends its server connection to the other.
        try other.execute("BEGIN", until: deadline)
        found.sharesSessions = try other.execute("SELECT pg_backend_pid()", until: deadline) == process
        if found.sharesSessions {
            found.keepsStatements = found.keepsStatements && executes(one.connection.raw, Self.statement)
        }
        try other.execute("COMMIT", until: deadline)
        try one.execute("LISTEN \(Self.statement)", until: deadline)
        try other.execute("NOTIFY \(Self.statement)", until: deadline)
        let heard = try one.notifications(until: .now + hearingMax)
        found.hears = heard.contains { $0.channel == Self.statement }
        try one.execute("UNLISTEN \(Self.statement)", until: deadline)
        return found
    }

    /// Returns the pooler's name. PgBouncer answers in a database of its own; other poolers do not name themselves.
    private static func name(
        _ configuration: PostgresConfiguration, _ deadline: ContinuousClock.Instant,
        _ open: (PostgresConfiguration) throws(PostgresError) -> BlockingSession
    ) -> String {
        var own = configuration
        own.database = "pgbouncer"
        do throws(PostgresError) {
            return try open(own).execute("SHOW VERSION", until: deadline) ?? "PgBouncer"
        } catch {
            // PgBouncer itself refuses an unauthorised user; PostgreSQL has no such database.
            return "\(error)".contains("does not exist") ? "a pooler" : "PgBouncer"
        }
    }
}

/// Prepares a statement in the protocol's way; false if its name is in use.
private func prepares(_ raw: OpaquePointer, _ name: String) -> Bool {
    isWell(PQprepare(raw, name, "SELECT 1", 0, nil))
}

private func executes(_ raw: OpaquePointer, _ name: String) -> Bool {
    isWell(PQexecPrepared(raw, name, 0, nil, nil, nil, 0))
}

private func isWell(_ result: OpaquePointer?) -> Bool {
    defer { PQclear(result) }
    return [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result))
}
