package import Logging
import ServiceLifecycle
import TidemarkLock
package import TidemarkModel

/// Keeps the keys of issuers that publish them at a URL: carries out the decisions of each ``KeyCache``.
///
/// Run it for as long as tokens are checked. Calls before it runs wait until it does; calls after its end get the
/// answer that keys are unavailable.
package final class KeyService: Service {
    /// The result of a fetch.
    package struct Fetched: Sendable {
        package var keys: KeySet
        /// Milliseconds; `nil` if the issuer states none.
        package var freshFor: Int64?
    }

    /// Gets the keys of a source, or throws the reason why it could not.
    package typealias Fetch = @Sendable (KeySource) async throws(KeyFetchError) -> Fetched

    private struct Waiter {
        let continuation: CheckedContinuation<KeyCache.Answer, Never>
        /// The answer after a fetch has ended.
        let answer: KeyCache.Answer
    }

    private struct Desk {
        var cache: KeyCache
        var waiting: [Waiter] = []
        var lastError: KeyFetchError?
    }

    /// The sources, by the index in the list of issuers.
    private let sources: [Int: (name: String, source: KeySource)]
    private let desks: Lock<[Int: Desk]>
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
        self.desks = Lock(desks)
        self.fetch = fetch
        self.now = now
        self.clock = clock
        self.logger = logger
        (orders, order) = AsyncStream.makeStream()
    }

    /// Fetches keys on demand and before they become stale, until a graceful shutdown.
    package func run() async {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.keepFresh() }
                for await index in self.orders { group.addTask { await self.renew(index) } }
            }
        }
        order.finish()
        // Resume all waiting calls.
        for index in sources.keys {
            desks.withLock { desks in desks[index]?.cache.end(now: now()) }
            resume(index)
        }
    }

    /// Returns the currently known keys of an issuer; `nil` when there are none.
    func keys(of index: Int) -> KeySet? {
        desks.withLock { desks in desks[index]?.cache.keys(now: now()) }
    }

    /// The time of the last good fetch for each issuer with a URL, in milliseconds since 1970; `nil` for never.
    package var fetched: [Milliseconds?] { desks.withLock { desks in desks.values.map(\.cache.lastFetch) } }

    /// Returns the time of the last good fetch, and the reason why the last fetch failed.
    func state(of index: Int) -> (since: Milliseconds?, error: KeyFetchError?) {
        desks.withLock { desks in (desks[index]?.cache.lastFetch, desks[index]?.lastError) }
    }

    /// Decides about a token for which the keys do not suffice. Returns when that is decided, or after a fetch, to look
    /// again.
    ///
    /// - Parameter since: the `since` of ``KeyCache/Answer/wait(since:starts:)``, for a token that has waited.
    func ask(_ lack: KeyCache.Lack, of index: Int, since: Int?) async -> KeyCache.Answer {
        await withCheckedContinuation { continuation in
            let answer = desks.withLock { desks in
                let answer = desks[index]?.cache.ask(lack, since: since, now: now()) ?? .refuse
                if case .wait = answer {
                    desks[index]?.waiting.append(Waiter(continuation: continuation, answer: answer))
                }
                return answer
            }
            guard case .wait(_, let starts) = answer else { return continuation.resume(returning: answer) }
            if starts { order.yield(index) }
        }
    }

    /// The number of tokens that wait for a fetch.
    func waiters(for index: Int) -> Int { desks.withLock { desks in desks[index]?.waiting.count ?? 0 } }

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
                "Could not fetch the keys of an issuer; the known keys stay valid for a day",
                metadata: ["issuer": "\(name)", "url": "\(source)", "error": "\(error)"])
        }
    }

    private func finish(_ index: Int, _ fetched: Fetched?, _ error: KeyFetchError? = nil) {
        desks.withLock { desks in
            desks[index]?.cache.finished(fetched?.keys, freshFor: fetched?.freshFor, now: now())
            desks[index]?.lastError = error
        }
        resume(index)
    }

    private func resume(_ index: Int) {
        let waiting = desks.withLock { desks in
            defer { desks[index]?.waiting = [] }
            return desks[index]?.waiting ?? []
        }
        for waiter in waiting { waiter.continuation.resume(returning: waiter.answer) }
    }
}
