package import TidemarkModel

/// Admits a sustained rate with a burst; the time is an argument.
package struct TokenBucket: Hashable, Sendable {
    private var tokens: Double
    private var refilled: Milliseconds
    private let perSecond: Int
    private let burst: Int
    /// The time until which nothing is accepted after a refusal, and the wait at its start.
    private var closedUntil: Milliseconds = 0
    private var closedFor: Int64 = 0

    /// Creates a full bucket of `burst`.
    package init(perSecond: Int, burst: Int, now: Milliseconds) {
        self.perSecond = perSecond
        self.burst = burst
        tokens = Double(burst)
        refilled = now
    }

    /// Takes `count` for a push of one connection. After a refusal, a push before its time is refused with it and uses
    /// nothing up.
    ///
    /// It was sent together with the refused one and cannot be settled before it, but would use up what that one waits
    /// for. A client that always sends several pushes at once would then never progress.
    package mutating func takeInOrder(_ count: Int, now: Milliseconds) -> Int64? {
        let left = closedUntil - now
        // A wait longer than the first one: the clock was put back.
        if left > 0, left <= closedFor { return left }
        let wait = take(count, now: now)
        closedFor = wait ?? 0
        closedUntil = now + closedFor
        return wait
    }

    /// Takes `count`, or returns the milliseconds after which that would be possible.
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
