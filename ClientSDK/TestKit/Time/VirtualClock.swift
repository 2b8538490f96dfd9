import TidemarkLock

/// The time of a `TestKit`: it changes only when the kit advances it. Pass it to code of the app that uses a clock.
public final class VirtualClock: Clock {
    /// A time, as the duration since 1970.
    public struct Instant: InstantProtocol {
        /// The duration since 1970.
        public let offset: Swift.Duration

        public func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        public func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// The state of a sleeper, which may be cancelled before it is registered here.
    private enum Sleeper {
        case cancelled
        case asleep(CheckedContinuation<Void, any Error>)
    }

    private let timeline: Timeline
    private let sleepers = Lock<(last: Int, waiting: [Int: Sleeper])>((0, [:]))

    init(_ timeline: Timeline) { self.timeline = timeline }

    public var now: Instant { Instant(offset: .milliseconds(timeline.now)) }
    public var minimumResolution: Swift.Duration { .milliseconds(1) }

    /// Sleeps until the kit's time reaches `deadline`.
    ///
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Swift.Duration? = nil) async throws {
        let id = sleepers.withLock { sleepers in
            sleepers.last += 1
            return sleepers.last
        }
        defer { sleepers.withLock { _ = $0.waiting.removeValue(forKey: id) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = sleepers.withLock { sleepers in
                    guard sleepers.waiting[id] == nil else { return true }
                    sleepers.waiting[id] = .asleep(continuation)
                    return false
                }
                guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
                timeline.schedule(after: now.duration(to: deadline).wholeMilliseconds) {
                    self.wake(id)?.resume()
                }
            }
        } onCancel: {
            wake(id, orMark: true)?.resume(throwing: CancellationError())
        }
    }

    private func wake(_ id: Int, orMark: Bool = false) -> CheckedContinuation<Void, any Error>? {
        sleepers.withLock { sleepers in
            switch sleepers.waiting.removeValue(forKey: id) {
            case .asleep(let continuation): return continuation
            case .cancelled: return nil
            case nil:
                if orMark { sleepers.waiting[id] = .cancelled }
                return nil
            }
        }
    }
}
