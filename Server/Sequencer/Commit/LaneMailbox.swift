import Synchronization
import TidemarkStore

/// What the task that serves a lane waits for. One task waits at a time; waiting is not cancelled, since every flight
/// ends, and what it committed must be told.
final class LaneMailbox<Written: Sendable>: Sendable {
    enum Event: Sendable {
        case ended(Int, Result<Written, StoreError>)
        /// Enough waits for a flight ahead.
        case filled
    }

    private struct State {
        /// Bounded by the flights, and one `filled` for each wait.
        var events: [Event] = []
        var waiter: CheckedContinuation<Event, Never>?
    }

    private let state = Mutex(State())

    /// Any thread.
    func put(_ event: Event) {
        let waiter = state.withLock { state -> CheckedContinuation<Event, Never>? in
            guard let waiter = state.waiter else {
                state.events.append(event)
                return nil
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume(returning: event)
    }

    func next() async -> Event {
        await withCheckedContinuation { continuation in
            let event = state.withLock { state -> Event? in
                guard !state.events.isEmpty else {
                    state.waiter = continuation
                    return nil
                }
                return state.events.removeFirst()
            }
            if let event { continuation.resume(returning: event) }
        }
    }
}
