import TidemarkLock

/// Tells whoever listens that something changed. Signals that nobody has taken yet become one.
package final class ChangeSignal: Sendable {
    private struct Listeners {
        var continuations: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextID = 0
    }

    private let listeners = Lock(Listeners())

    package init() {}

    /// Signals from now on; ends with its task or its last reference.
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

    /// A value now and after each change of it, without repetitions.
    ///
    /// It is read when it is asked for: who is slow sees the newest, and the last one that is seen is the last there was.
    /// Were it sent along with the signal, two senders that overtake each other would leave the older one standing.
    ///
    /// - Parameters:
    ///   - ended: called when nobody reads it any more.
    ///   - read: `nil` when there will be no more values.
    func values<Value: Equatable & Sendable>(
        ended: @escaping @Sendable () -> Void = {}, _ read: @escaping @Sendable () -> Value?
    ) -> AsyncStream<Value> {
        // Listens before it reads: what changes in between is read once more.
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
        // Not called under the lock: a listener's executor may run in place.
        for continuation in listeners.withLock({ Array($0.continuations.values) }) { continuation.yield() }
    }
}
