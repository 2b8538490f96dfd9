import Tidemark
import TidemarkLock

/// A system's scheduler controlled by a test: it records requests, and grants tasks on command.
final class ScriptedScheduler: RefreshScheduler {
    struct Refusal: Error {}

    private struct State {
        var launch: (@Sendable (any RefreshTask) -> Void)?
        var log: [String] = []
        var refuses = false
    }

    private let state = Lock(State())

    /// The requests, in order.
    var log: [String] { state.withLock { $0.log } }

    func set(refuses: Bool) { state.withLock { $0.refuses = refuses } }

    /// Grants a task, as the system does some time after a request.
    func grant() -> Grant {
        let task = Grant()
        state.withLock { $0.launch }?(task)
        return task
    }

    func register(_ identifier: String, _ launch: @escaping @Sendable (any RefreshTask) -> Void) throws {
        state.withLock { state in
            state.log.append("register \(identifier)")
            state.launch = launch
        }
    }

    func request(_ identifier: String, after delay: Duration) throws {
        try state.withLock { state in
            if state.refuses { throw Refusal() }
            state.log.append("request \(identifier) after \(delay.components.seconds) s")
        }
    }

    func cancel(_ identifier: String) { state.withLock { $0.log.append("cancel \(identifier)") } }

    final class Grant: RefreshTask {
        private let ends: AsyncStream<Bool>
        private let end: AsyncStream<Bool>.Continuation
        private let expiration = Lock<(@Sendable () -> Void)?>(nil)

        init() { (ends, end) = AsyncStream.makeStream() }

        func onExpiration(_ expire: @escaping @Sendable () -> Void) { expiration.withLock { $0 = expire } }

        func complete(success: Bool) { end.yield(success) }

        func expire() { expiration.withLock { $0 }?() }

        /// The result with which the task ended.
        func success() async -> Bool? {
            for await end in ends { return end }
            return nil
        }
    }
}
