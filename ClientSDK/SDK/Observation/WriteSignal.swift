import Synchronization

/// Tells whoever sends the outbox that something was written to it. Signals that nobody has taken yet become one.
package final class WriteSignal: Sendable {
    private struct Listeners {
        var continuations: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextID = 0
    }

    private let listeners = Mutex(Listeners())

    package init() {}

    /// Signals from now on; ends with its task or its last reference.
    package func values() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = listeners.withLock { listeners in
            listeners.nextID += 1
            listeners.continuations[listeners.nextID] = continuation
            return listeners.nextID
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.continuations.removeValue(forKey: id) }
        }
        return stream
    }

    func send() {
        // Not called under the lock: a listener's executor may run in place.
        for continuation in listeners.withLock({ Array($0.continuations.values) }) { continuation.yield() }
    }
}
