package import Logging
import TidemarkLock

/// A fixed number of connections to one database, leased one caller at a time.
///
/// One reactor thread drives them all, a second one makes new connections; nothing blocks Swift's cooperative pool. A
/// lost connection is replaced by itself, and statements are prepared anew on it.
///
/// Nothing is connected before ``run()``; earlier callers wait for it, without a timeout.
package final class PostgresPool: Sendable {
    /// The pool at one instant, for health reports.
    package struct Snapshot: Sendable, Equatable {
        /// Usable connections, leased ones included.
        package let connected: Int
        package let leased: Int
        /// Callers waiting for a connection.
        package let waiting: Int

        /// Connections that would be lent at once.
        package var idle: Int { connected - leased }
    }

    private enum Life {
        case fresh
        case running
        case over
    }

    private let core: PoolCore
    private let life = Lock(Life.fresh)

    /// - Throws: `PostgresError.unavailable` if the process has no file descriptor left.
    package init(configuration: PostgresConfiguration, logger: Logger) throws(PostgresError) {
        core = try PoolCore(configuration, logger)
    }

    /// Connects and runs until ``shutdown()``, which lets leases finish, or until its task is cancelled, which does
    /// not.
    ///
    /// Once only: a second call, or one after `shutdown()`, returns at once.
    /// - Throws: `PostgresError.unavailable` if the system refuses a thread or a file descriptor.
    package func run() async throws(PostgresError) {
        let isFirst = life.withLock { life in
            defer { if life == .fresh { life = .running } }
            return life == .fresh
        }
        guard isFirst else { return }
        let outcome: Result<Void, PostgresError> = await withTaskCancellationHandler {
            do throws(PostgresError) {
                return .success(try await core.run())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            core.stop()
        }
        life.withLock { $0 = .over }
        core.drain()
        try outcome.get()
    }

    /// Refuses further leases with `.closed`; ``run()`` returns once all leases have ended, or after the operation
    /// timeout.
    package func shutdown() {
        life.withLock { life in
            if life == .fresh { life = .over }
        }
        core.drain()
    }

    /// Lends one connection to `body`, exclusively.
    ///
    /// A connection that comes back inside a transaction is rolled back, one with an unknown state is replaced. Do not
    /// nest calls: callers that each hold one connection and wait for another can stop the pool for a lease timeout.
    ///
    /// - Throws: any error of `body`; `.unavailable` if no connection could be made within the lease timeout,
    ///   `.overloaded` if all stayed in use for that long or too many callers wait already, `.closed` after
    ///   `shutdown()`; `CancellationError`.
    package func withConnection<R>(_ body: (PostgresConnection) async throws -> R) async throws -> R {
        try await using(try await lease(), body)
    }

    /// Lends one connection to the caller, who must end the lease by `leave()`. Otherwise like ``withConnection(_:)``,
    /// which is the better choice if a lease ends in the function in which it begins.
    package func lease() async throws -> PostgresConnection { PostgresConnection(core, try await core.lease()) }

    /// Runs `body` on a connection that another caller holds. Its statements are executed right behind the holder's:
    /// the server goes from one to the other without being woken.
    ///
    ///     try await pool.withConnection { holder in
    ///         async let first = holder.run([begin, insert, commit])
    ///         …
    ///         let second = try await pool.withConnection(joining: holder) { try await $0.run([begin, update, commit]) }
    ///     }
    ///
    /// When the holder's transaction fails, that of `body` is refused with SQLSTATE 25P02. The connection returns to
    /// the pool with its last holder.
    ///
    /// - Returns: `nil`, without having called `body`, if joining is useless or there is no time: the holder has sent
    ///   nothing yet, has returned the connection, or is known to be inside a transaction; or others wait for a
    ///   connection, or the pool shuts down.
    /// - Throws: any error of `body`.
    package func withConnection<R>(
        joining connection: PostgresConnection, _ body: (PostgresConnection) async throws -> R
    ) async throws -> R? {
        connection.join() ? try await using(connection, body) : nil
    }

    private func using<R>(
        _ connection: PostgresConnection, _ body: (PostgresConnection) async throws -> R
    ) async throws -> R {
        do {
            let value = try await body(connection)
            await connection.leave()
            return value
        } catch {
            await connection.leave()
            throw error
        }
    }

    /// Counts of this moment, for metrics and tests.
    package var snapshot: Snapshot { core.snapshot }
}
