import CPostgres

/// What stands between this program and PostgreSQL, and which of PostgreSQL's promises it does not keep.
///
/// A pooler of connections lends one of its own to each transaction, or to each session. In the first case whatever belongs to a
/// session is lost between two transactions: `LISTEN`, prepared statements, settings, advisory locks.
package struct ConnectionProbe: Hashable, Sendable {
    /// How it calls itself; `nil` where nothing stands between.
    package var pooler: String?
    /// Two transactions of one connection may be on two of the server's.
    package var sharesSessions = false
    /// `NOTIFY` reaches who said `LISTEN`.
    package var hears = true
    /// A statement that was prepared can be executed in another transaction.
    package var keepsStatements = true

    /// From a `NOTIFY` to when it must have come.
    private static let hearingMax = Duration.seconds(2)
    private static let statement = "tidemark_probe"

    package init() {}

    /// Tries it with two connections, on a thread of its own. Leaves nothing behind but, where sessions are shared, a `LISTEN` that
    /// nobody hears.
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
        // A pooler tells a number of its own, by which it finds whom to cancel.
        if process != "\(PQbackendPID(one.connection.raw))" {
            found.pooler = name(configuration, deadline, open)
        }
        found.keepsStatements = prepares(one.connection.raw, Self.statement)
        // While one is idle, its connection to the server is lent to the other where sessions are shared.
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

    /// PgBouncer has a database of its own for whoever asks; other poolers do not say who they are.
    private static func name(
        _ configuration: PostgresConfiguration, _ deadline: ContinuousClock.Instant,
        _ open: (PostgresConfiguration) throws(PostgresError) -> BlockingSession
    ) -> String {
        var own = configuration
        own.database = "pgbouncer"
        do throws(PostgresError) {
            return try open(own).execute("SHOW VERSION", until: deadline) ?? "PgBouncer"
        } catch {
            // Who may not ask is refused by PgBouncer itself; PostgreSQL has no such database.
            return "\(error)".contains("does not exist") ? "a pooler" : "PgBouncer"
        }
    }
}

/// Prepares a statement under that name, as the protocol does it; false where that name is taken.
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
