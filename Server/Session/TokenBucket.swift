package import TidemarkModel

/// Admits a sustained rate with a burst; time comes in.
package struct TokenBucket: Hashable, Sendable {
    private var tokens: Double
    private var refilled: Milliseconds
    private let perSecond: Int
    private let burst: Int

    /// A full bucket of `burst`.
    package init(perSecond: Int, burst: Int, now: Milliseconds) {
        self.perSecond = perSecond
        self.burst = burst
        tokens = Double(burst)
        refilled = now
    }

    /// Takes `count`, or tells after how many milliseconds that would be possible.
    package mutating func take(_ count: Int, now: Milliseconds) -> Int64? {
        let elapsed = Double(max(0, now - refilled))
        tokens = min(Double(burst), tokens + elapsed * Double(perSecond) / 1_000)
        refilled = max(now, refilled)
        // A request larger than the burst is admitted from a full bucket, else it could never be.
        if tokens >= Double(min(count, burst)) {
            tokens -= Double(count)
            return nil
        }
        return Int64((Double(min(count, burst)) - tokens) * 1_000 / Double(max(1, perSecond))) + 1
    }
}
