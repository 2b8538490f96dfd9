package import TidemarkModel

/// Admits a sustained rate with a burst; time comes in.
package struct TokenBucket: Hashable, Sendable {
    private var tokens: Double
    private var refilled: Milliseconds
    private let perSecond: Int
    private let burst: Int
    /// Until when nothing is taken after a refusal, and how long that was from the start.
    private var closedUntil: Milliseconds = 0
    private var closedFor: Int64 = 0

    /// A full bucket of `burst`.
    package init(perSecond: Int, burst: Int, now: Milliseconds) {
        self.perSecond = perSecond
        self.burst = burst
        tokens = Double(burst)
        refilled = now
    }

    /// The same for pushes of one connection: after a refusal, what comes before its time is refused with it and uses
    /// nothing up.
    ///
    /// It was sent together with the refused one and cannot be settled before it, but would take what that waits for: a
    /// client that always sends several pushes at once would then never get on.
    package mutating func takeInOrder(_ count: Int, now: Milliseconds) -> Int64? {
        let left = closedUntil - now
        // More than there was at first: the clock was put back.
        if left > 0, left <= closedFor { return left }
        let wait = take(count, now: now)
        closedFor = wait ?? 0
        closedUntil = now + closedFor
        return wait
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
