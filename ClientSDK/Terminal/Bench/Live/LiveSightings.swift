import NIOCore
import TidemarkLock

/// The messages that an observer of the newest page has seen, with their times and ages.
final class LiveSightings: Sendable {
    /// A message on the screen.
    struct Sight {
        let number: Int64
        /// The time of writing, by a clock that all processes of a machine share.
        let written: UInt64
    }

    private struct State {
        /// The newest message's number; its time of writing follows.
        var number: Int64 = 0
        var written: UInt64 = 0
        var first: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?
        var ages = LatencyLog()
        var waiting: (written: UInt64, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Lock(State())

    /// The newest number that was seen.
    var number: Int64 { state.withLock { $0.number } }
    var ages: LatencyLog { state.withLock { $0.ages } }

    /// The time from the first message to the last one seen since `begin`.
    var span: Duration {
        state.withLock { state in
            guard let first = state.first, let last = state.last else { return .zero }
            return last - first
        }
    }

    /// Starts a new count.
    func begin() {
        state.withLock { state in
            state.ages.removeAll()
            (state.first, state.last) = (nil, nil)
        }
    }

    /// Records the messages that the screen shows; if more arrived than fit, some are never seen.
    func show(_ page: some Sequence<Sight>) {
        let now = UInt64(NIODeadline.now().uptimeNanoseconds)
        let done = state.withLock { state -> CheckedContinuation<Void, Never>? in
            let before = state.number
            for sight in page where sight.number > before {
                state.ages.record(nanoseconds: now &- sight.written)
                state.number = max(state.number, sight.number)
                state.written = max(state.written, sight.written)
            }
            guard state.number > before else { return nil }
            state.last = .now
            if state.first == nil { state.first = state.last }
            guard let waiting = state.waiting, state.written >= waiting.written else { return nil }
            state.waiting = nil
            return waiting.continuation
        }
        done?.resume()
    }

    /// Waits until the message that was written at that time is seen. For one task.
    func wait(for written: UInt64) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    guard state.written < written, !Task.isCancelled else { return true }
                    state.waiting = (written, continuation)
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            state.withLock { state in
                defer { state.waiting = nil }
                return state.waiting
            }?.continuation.resume()
        }
    }
}
