import Synchronization
import TidemarkModel
import TidemarkSession
import TidemarkWire

/// The token buckets of clients that push over HTTP, where no connection could keep them. Any thread.
final class RateBook: Sendable {
    /// Clients that are remembered at once.
    static let clientsMax = 20_000

    private struct Pages {
        // Two generations: what was not used during the last `clientsMax / 2` newcomers is forgotten, in constant time.
        var recent: [Census.Client: TokenBucket] = [:]
        var older: [Census.Client: TokenBucket] = [:]
    }

    private let limits: WireLimits
    private let pages = Mutex(Pages())

    init(limits: WireLimits) { self.limits = limits }

    /// Takes `count` of a client's tokens, or tells after how many milliseconds that would be possible.
    func take(_ count: Int, for client: Census.Client, now: Milliseconds) -> Int64? {
        pages.withLock { pages in
            var bucket =
                pages.recent[client] ?? pages.older[client]
                ?? TokenBucket(perSecond: limits.transactionsPerSecond, burst: limits.transactionsBurst, now: now)
            if pages.recent[client] == nil, pages.recent.count >= Self.clientsMax / 2 {
                pages.older = pages.recent
                pages.recent = [:]
            }
            let wait = bucket.take(count, now: now)
            pages.recent[client] = bucket
            return wait
        }
    }
}
