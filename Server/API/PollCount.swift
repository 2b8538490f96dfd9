import TidemarkLock

/// How many pulls wait for something to happen. Any thread.
final class PollCount: Sendable {
    private let max: Int
    private let count = Lock(0)

    init(max: Int) { self.max = max }

    /// False when too many wait already.
    func enter() -> Bool {
        count.withLock { count in
            guard count < max else { return false }
            count += 1
            return true
        }
    }

    func leave() { count.withLock { $0 -= 1 } }
}
