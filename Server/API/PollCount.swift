import TidemarkLock

/// The number of pulls that wait for a change. Any thread.
final class PollCount: Sendable {
    private let max: Int
    private let count = Lock(0)

    init(max: Int) { self.max = max }

    /// Counts a pull; false when too many wait already.
    func enter() -> Bool {
        count.withLock { count in
            guard count < max else { return false }
            count += 1
            return true
        }
    }

    func leave() { count.withLock { $0 -= 1 } }
}
