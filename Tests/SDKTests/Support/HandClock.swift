import TidemarkLock

@testable import Tidemark

/// A clock that only moves by hand.
final class HandClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Swift.Duration
        func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var last = 0
        var sleepers: [Int: (until: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Swift.Duration { .milliseconds(1) }

    func sleep(until deadline: Instant, tolerance: Swift.Duration? = nil) async throws {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isDue, watchers) = state.withLock { state in
                    guard state.now < deadline else { return (true, [CheckedContinuation<Void, Never>]()) }
                    state.sleepers[id] = (deadline, continuation)
                    defer { state.watchers = [] }
                    return (false, state.watchers)
                }
                for watcher in watchers { watcher.resume() }
                if isDue { return continuation.resume() }
                // The task was cancelled before the sleep was registered: the handler found nothing.
                if Task.isCancelled { wake(id)?.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            wake(id)?.resume(throwing: CancellationError())
        }
    }

    /// Waits until a task sleeps.
    func waitForSleeper() async {
        await withCheckedContinuation { continuation in
            let isSleeping = state.withLock { state in
                if state.sleepers.isEmpty { state.watchers.append(continuation) }
                return !state.sleepers.isEmpty
            }
            if isSleeping { continuation.resume() }
        }
    }

    func advance(by duration: Swift.Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    private func wake(_ id: Int) -> CheckedContinuation<Void, any Error>? {
        state.withLock { $0.sleepers.removeValue(forKey: id)?.continuation }
    }
}
