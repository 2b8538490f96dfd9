import Synchronization

/// A clock that the test moves; who sleeps on it sleeps until cancelled.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Swift.Duration
        func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let offset = Mutex(Swift.Duration.zero)

    var now: Instant { Instant(offset: offset.withLock { $0 }) }
    var minimumResolution: Swift.Duration { .milliseconds(1) }

    func advance(by duration: Swift.Duration) { offset.withLock { $0 += duration } }

    func sleep(until deadline: Instant, tolerance: Swift.Duration? = nil) async throws {
        let (never, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        withExtendedLifetime(continuation) {}
        throw CancellationError()
    }
}
