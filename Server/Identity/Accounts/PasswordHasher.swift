import NIOPosix
import ServiceLifecycle
import TidemarkLock

/// Where hashes are computed: on threads of their own, a few at a time, since each takes memory by the hundred megabytes. So many
/// more wait; one more is refused at once, rather than all of them after a while.
///
/// Run it as a service: it ends the threads, and nothing is computed afterwards. What a cancelled task has asked for does not
/// begin.
package final class PasswordHasher: Service {
    private enum State {
        case idle, running, ended
    }

    /// There are too many already.
    package struct Busy: Error, Hashable, Sendable {}

    private let judge: PasswordJudge
    private let pool: NIOThreadPool
    private let state = Lock(State.idle)
    private let asked = Lock(0)
    private let askedMax: Int
    private let random: @Sendable () -> UInt64

    /// - Parameters:
    ///   - atOnce: hashes that are computed at the same time.
    ///   - waitingMax: more that wait.
    ///   - random: for salts.
    package init(
        _ judge: PasswordJudge, atOnce: Int, waitingMax: Int, random: @escaping @Sendable () -> UInt64
    ) {
        self.judge = judge
        self.random = random
        pool = NIOThreadPool(numberOfThreads: max(1, atOnce))
        askedMax = max(1, atOnce) + max(0, waitingMax)
    }

    /// Waits for a graceful shutdown, and ends the threads.
    package func run() async throws {
        do {
            try await gracefulShutdown()
        } catch is CancellationError {
            // The same end.
        }
        let wasRunning = state.withLock { state in
            defer { state = .ended }
            return state == .running
        }
        if wasRunning { try await pool.shutdownGracefully() }
    }

    /// See ``PasswordJudge/verdict(on:stored:salt:)``.
    ///
    /// - Throws: ``Busy``; `CancellationError` for a task that was cancelled, or where nothing is computed any more.
    package func verdict(on password: Password, stored: String?) async throws -> PasswordJudge.Verdict {
        let salt = salt()
        return try await compute { [judge] in try judge.verdict(on: password, stored: stored, salt: salt) }
    }

    /// The hash of a password that was chosen now; throws as ``verdict(on:stored:)``.
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

    /// The threads are there from the first hash on.
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
