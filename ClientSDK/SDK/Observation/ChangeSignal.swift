import TidemarkLock

/// Notifies all listeners of a change. Signals that a listener has not taken yet are merged into one.
package final class ChangeSignal: Sendable {
    private struct Listeners {
        var continuations: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextID = 0
    }

    private let listeners = Lock(Listeners())

    package init() {}

    /// Returns the signals from now on. The stream ends with its task or its last reference.
    ///
    /// - Parameter ended: called when it has ended.
    package func signals(ended: @escaping @Sendable () -> Void = {}) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = listeners.withLock { listeners in
            listeners.nextID += 1
            listeners.continuations[listeners.nextID] = continuation
            return listeners.nextID
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.continuations.removeValue(forKey: id) }
            ended()
        }
        return stream
    }

    /// Returns a value now and after each change, without repetitions.
    ///
    /// It is read on demand: a slow consumer sees the newest value, and the last value that it sees is the latest. If
    /// the value were sent with the signal, two senders could overtake each other and leave the older one in effect.
    ///
    /// - Parameters:
    ///   - ended: called when the consumer has stopped.
    ///   - read: returns the value, or `nil` when there are no more.
    func values<Value: Equatable & Sendable>(
        ended: @escaping @Sendable () -> Void = {}, _ read: @escaping @Sendable () -> Value?
    ) -> AsyncStream<Value> {
        // It listens before it reads: a change in between is read once more.
        let signals = signals(ended: ended)
        let last = Lock<Value?>(nil)
        return AsyncStream {
            var changes = signals.makeAsyncIterator()
            while true {
                if last.withLock({ $0 }) != nil, await changes.next() == nil { return nil }
                guard let value = read() else { return nil }
                let isOther = last.withLock { last in
                    defer { last = value }
                    return value != last
                }
                if isOther { return value }
            }
        }
    }

    package func send() {
        // Not called under the lock: a listener's executor may run inline.
        for continuation in listeners.withLock({ Array($0.continuations.values) }) { continuation.yield() }
    }
}
