/// Pauses between attempts: doubling from `first` to `max`, each shortened at random by up to a half.
struct Backoff {
    private let first: Duration
    private let max: Duration
    private var upcoming: Duration

    init(first: Duration, max: Duration) {
        self.first = first
        self.max = Swift.max(first, max)
        upcoming = first
    }

    /// The pause before the next attempt.
    ///
    /// - Parameter jitter: a random number from 0 to 1, so that many clients do not come back in step.
    mutating func next(jitter: Double) -> Duration {
        let pause = upcoming * (0.5 + 0.5 * jitter)
        upcoming = min(upcoming * 2, max)
        return pause
    }

    mutating func reset() {
        upcoming = first
    }
}
