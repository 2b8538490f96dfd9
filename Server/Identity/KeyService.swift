package import Logging
import ServiceLifecycle
import Synchronization
package import TidemarkModel

/// Keeps the keys of issuers that publish them at a URL: carries out what each ``KeyCache`` decides.
///
/// Run it for as long as tokens are checked: who asks before it runs waits until it does, and who asks after its end is told
/// that keys are unavailable.
package final class KeyService: Service {
    /// What a fetch brought.
    package struct Fetched: Sendable {
        package var keys: KeySet
        /// Milliseconds; `nil` where the issuer says nothing.
        package var freshFor: Int64?

        package init(keys: KeySet, freshFor: Int64?) {
            self.keys = keys
            self.freshFor = freshFor
        }
    }

    /// Gets the keys of a source; throws what kept it from that.
    package typealias Fetch = @Sendable (KeySource) async throws(KeyFetchError) -> Fetched

    private struct Desk {
        var cache: KeyCache
        var waiting: [CheckedContinuation<Void, Never>] = []
        var lastError: KeyFetchError?
    }

    /// By place in the list of issuers.
    private let sources: [Int: (name: String, source: KeySource)]
    private let desks: Mutex<[Int: Desk]>
    private let fetch: Fetch
    private let now: @Sendable () -> Milliseconds
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let orders: AsyncStream<Int>
    private let order: AsyncStream<Int>.Continuation

    /// - Parameter now: milliseconds since 1970.
    package init(
        for issuers: [Issuer], limits: KeyCache.Limits = KeyCache.Limits(), now: @escaping @Sendable () -> Milliseconds,
        clock: any Clock<Duration> = ContinuousClock(), logger: Logger, fetch: @escaping Fetch
    ) {
        var (sources, desks): ([Int: (name: String, source: KeySource)], [Int: Desk]) = ([:], [:])
        for (index, issuer) in issuers.enumerated() {
            guard let source = issuer.keySource else { continue }
            sources[index] = (issuer.name, source)
            desks[index] = Desk(cache: KeyCache(limits: limits))
        }
        self.sources = sources
        self.desks = Mutex(desks)
        self.fetch = fetch
        self.now = now
        self.clock = clock
        self.logger = logger
        (orders, order) = AsyncStream.makeStream()
    }

    /// Fetches what is asked for, and ahead of what will be, until a graceful shutdown.
    package func run() async {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.keepFresh() }
                for await index in self.orders { group.addTask { await self.renew(index) } }
            }
        }
        order.finish()
        // Who waits is not left behind.
        for index in sources.keys { finish(index, nil) }
    }

    /// The keys of an issuer as they are known now; `nil` when there are none.
    func keys(of index: Int) -> KeySet? {
        desks.withLock { desks in desks[index]?.cache.keys(now: now()) }
    }

    /// Since when they are known, and why the last fetch failed.
    func state(of index: Int) -> (since: Milliseconds?, error: KeyFetchError?) {
        desks.withLock { desks in (desks[index]?.cache.lastFetch, desks[index]?.lastError) }
    }

    /// The keys do not do for a token. Returns when that is decided, after the one fetch that it may take: `nil` to look
    /// again.
    func ask(_ lack: KeyCache.Lack, of index: Int, hasWaited: Bool) async -> KeyCache.Answer? {
        if hasWaited {
            return desks.withLock { desks in desks[index]?.cache.askAgain(lack, now: now()) }
        }
        let answer = desks.withLock { desks in desks[index]?.cache.ask(lack, now: now()) }
        guard case .wait(let starts)? = answer else { return answer }
        await withCheckedContinuation { waiter in
            let isLate = desks.withLock { desks in
                // The fetch that was under way may be over between the two locks.
                guard starts || desks[index]?.cache.isFetching == true else { return true }
                desks[index]?.waiting.append(waiter)
                return false
            }
            if isLate { return waiter.resume() }
            if starts, case .terminated = order.yield(index) { finish(index, nil) }
        }
        return nil
    }

    private func keepFresh() async {
        while true {
            for index in sources.keys.sorted() {
                let isDue = desks.withLock { desks in desks[index]?.cache.tick(now: now()) ?? false }
                if isDue, case .terminated = order.yield(index) { return }
            }
            do { try await clock.sleep(for: .seconds(1)) } catch { return }
        }
    }

    private func renew(_ index: Int) async {
        guard let (name, source) = sources[index] else { return }
        do throws(KeyFetchError) {
            let fetched = try await fetch(source)
            finish(index, fetched)
            logger.debug(
                "Fetched the keys of an issuer",
                metadata: ["issuer": "\(name)", "keys": "\(fetched.keys.keys.count)"])
        } catch {
            finish(index, nil, error)
            logger.warning(
                "Could not fetch the keys of an issuer; those that are known stay for a day",
                metadata: ["issuer": "\(name)", "url": "\(source)", "error": "\(error)"])
        }
    }

    private func finish(_ index: Int, _ fetched: Fetched?, _ error: KeyFetchError? = nil) {
        let waiting = desks.withLock { desks -> [CheckedContinuation<Void, Never>] in
            desks[index]?.cache.finished(fetched?.keys, freshFor: fetched?.freshFor, now: now())
            desks[index]?.lastError = error
            defer { desks[index]?.waiting = [] }
            return desks[index]?.waiting ?? []
        }
        for waiter in waiting { waiter.resume() }
    }
}
