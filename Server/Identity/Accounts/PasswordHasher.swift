import NIOPosix
import ServiceLifecycle
import TidemarkLock

/// Computes hashes on threads of its own, a few at a time, because each takes hundreds of megabytes of memory. A
/// bounded number of others wait. Further ones are refused at once, so that the waiting ones do not all come too late.
///
/// Run it as a service: its end stops the threads, and nothing is computed afterwards. A hash that a cancelled task
/// requested does not begin.
package final class PasswordHasher: Service {
    private enum State {
        case idle, running, ended
    }

    /// Too many hashes are computed or wait already.
    package struct Busy: Error, Hashable, Sendable {}

    private let judge: PasswordJudge
    private let pool: NIOThreadPool
    private let state = Lock(State.idle)
    private let asked = Lock(0)
    private let askedMax: Int
    private let random: @Sendable () -> UInt64

    /// - Parameters:
    ///   - atOnce: hashes that are computed at the same time.
    ///   - waitingMax: further hashes that may wait.
    ///   - random: the source of salts.
    package init(
        _ judge: PasswordJudge, atOnce: Int, waitingMax: Int, random: @escaping @Sendable () -> UInt64
    ) {
        self.judge = judge
        self.random = random
        pool = NIOThreadPool(numberOfThreads: max(1, atOnce))
        askedMax = max(1, atOnce) + max(0, waitingMax)
    }

    /// Waits for a graceful shutdown, and stops the threads.
    package func run() async throws {
        do {
            try await gracefulShutdown()
        } catch is CancellationError {
            // A cancellation ends it in the same way.
        }
        let wasRunning = state.withLock { state in
            defer { state = .ended }
            return state == .running
        }
        if wasRunning { try await pool.shutdownGracefully() }
    }

    /// See ``PasswordJudge/verdict(on:stored:salt:)``.
    ///
    /// - Throws: ``Busy``; `CancellationError` if the task was cancelled or the threads have stopped.
    package func verdict(on password: Password, stored: String?) async throws -> PasswordJudge.Verdict {
        let salt = salt()
        return try await compute { [judge] in try judge.verdict(on: password, stored: stored, salt: salt) }
    }

    /// Returns the hash of a password that was chosen now; throws as ``verdict(on:stored:)``.
    package func hash(_ password: Password) async throws -> String {
        let salt = salt()
        return try await compute { [judge] in try judge.hash(password, salt: salt) }
    }

    /// Hashes that are computed or wait.
    package var load: Int { asked.current }

    private func compute<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        guard asked.add(1) <= askedMax else {
            asked.add(-1)
            throw Busy()
        }
        defer { asked.add(-1) }
        begin()
        return try await pool.runIfActive(body)
    }

    /// Starts the threads with the first hash.
    private func begin() {
        state.withLock { state in
            guard state == .idle else { return }
            pool.start()
            state = .running
        }
    }

    private func salt() -> [UInt8] {
        [random(), random()].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
    }
}
