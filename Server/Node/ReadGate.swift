import NIOCore
import Synchronization
import TidemarkEdge

/// Lets a bounded number of reads go at once; the others wait in order.
package final class ReadGate: Sendable {
    private struct State {
        var free: Int
        var waiting = CircularBuffer<CheckedContinuation<Void, Never>>()
    }

    private let state: Mutex<State>
    private let observe: @Sendable (_ waited: Duration, _ took: Duration) -> Void

    /// - Parameter observe: told of each read once it is over.
    init(permits: Int, observe: @escaping @Sendable (_ waited: Duration, _ took: Duration) -> Void = { _, _ in }) {
        state = Mutex(State(free: max(1, permits)))
        self.observe = observe
    }

    /// Runs `body` when it is its turn. Waiting does not end with a cancellation: those before it are reads, and end.
    package func pass<Value, Failure: Error>(
        _ body: () async throws(Failure) -> sending Value
    ) async throws(Failure) -> sending Value {
        let asked = ContinuousClock.now
        await enter()
        let begun = ContinuousClock.now
        defer {
            leave()
            observe(asked.duration(to: begun), begun.duration(to: .now))
        }
        return try await body()
    }

    private func enter() async {
        let isFree = state.withLock { state in
            guard state.free > 0 else { return false }
            state.free -= 1
            return true
        }
        guard !isFree else { return }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                // A permit may have come back between the two locks.
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Hands the permit to the first who waits.
    private func leave() {
        let next = state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.free += 1 }
            return next
        }
        next?.resume()
    }
}
