import TidemarkHub
import TidemarkLock
package import TidemarkModel

/// Callers that a book remembers at once.
private let callersMax = 20_000

/// The token buckets of callers over HTTP, where no connection could hold them. Any thread.
package final class RateBook<Caller: Hashable & Sendable>: Sendable {
    private struct Pages {
        // Two generations: a caller who was idle during the last `callersMax / 2` newcomers is forgotten, in constant
        // time.
        var recent: [Caller: TokenBucket] = [:]
        var older: [Caller: TokenBucket] = [:]
    }

    private let perSecond: Int
    private let burst: Int
    private let pages = Lock(Pages())

    /// Each caller has a bucket of its own, with this rate and burst.
    package init(perSecond: Int, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }

    /// True for a caller that has taken tokens and is not forgotten.
    package func knows(_ caller: Caller) -> Bool {
        pages.withLock { $0.recent[caller] != nil || $0.older[caller] != nil }
    }

    /// Takes `count` of a caller's tokens, or returns the milliseconds until that is possible.
    package func take(_ count: Int, for caller: Caller, now: Milliseconds) -> Int64? {
        pages.withLock { pages in
            var bucket =
                pages.recent[caller] ?? pages.older[caller]
                ?? TokenBucket(perSecond: perSecond, burst: burst, now: now)
            if pages.recent[caller] == nil, pages.recent.count >= callersMax / 2 {
                pages.older = pages.recent
                pages.recent = [:]
            }
            let wait = bucket.take(count, now: now)
            pages.recent[caller] = bucket
            return wait
        }
    }
}
