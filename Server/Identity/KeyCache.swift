package import TidemarkModel

/// The keys of one issuer that publishes them at a URL, as a pure machine: when they are fetched, and what an unknown key means
/// meanwhile. Somebody else fetches, and knows the time.
///
/// A token is refused for its key alone when keys that were fetched since do not fit it. Until then nothing is known about it, and
/// nobody may be told to sign in again: it waits for the next fetch, and an endpoint that is down is no reason.
package struct KeyCache: Sendable {
    /// Bounds of time and number; times in milliseconds.
    package struct Limits: Hashable, Sendable {
        /// Milliseconds between the starts of two fetches.
        package var spacing: Int64 = 10_000
        /// How long keys are good that could not be fetched again.
        package var keptFor: Int64 = 24 * 3_600_000
        /// When keys are fetched anew, where the issuer does not say.
        package var freshUsually: Int64 = 300_000
        /// Bounds on what the issuer says.
        package var freshMin: Int64 = 60_000
        package var freshMax: Int64 = 6 * 3_600_000
        /// Between tries of an endpoint that is down, when no token asks; doubles up to here.
        package var retryMax: Int64 = 300_000
        /// Unknown keys that are remembered, and how long one is known to be none.
        package var unknownMax = 256
        package var unknownFor: Int64 = 60_000
        /// Tokens that wait for a fetch.
        package var waitersMax = 4_096

        package init() {}
    }

    /// Why the keys do not do.
    package enum Lack: Hashable, Sendable {
        /// There are none.
        case noKeys
        /// None has this `kid`, or fits a token without one.
        case unknownKey(String?)
        /// None of those that fit the token has signed it.
        case badSignature
    }

    /// What becomes of a token whose key is not among those that are known.
    package enum Answer: Hashable, Sendable {
        /// Look again once a fetch is over, with `since`: how many had begun when the token came. `starts` says to begin it.
        case wait(since: Int, starts: Bool)
        /// The keys are as fresh as can be: it is the token.
        case refuse
        /// It cannot be known now; again in so many milliseconds.
        case unavailable(Int64)
    }

    private let limits: Limits
    private var set: KeySet?
    /// The last good fetch: which one it was, and when it was over.
    private var fetched: (number: Int, done: Milliseconds)?
    /// When the last fetch of any kind began.
    private var begun: Milliseconds?
    /// Fetches that have begun: what tells whether one began after a token came, however little time lies between.
    private var count = 0
    package private(set) var isFetching = false
    private var isOver = false
    private(set) var waiters = 0
    private var refreshAt: Milliseconds = 0
    private var failures = 0
    /// Keys that were asked for and not there, each since when, and after how many fetches.
    private var unknown: [String: (since: Milliseconds, count: Int)] = [:]

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// The keys to check with; `nil` while there are none, or none that are young enough.
    package func keys(now: Milliseconds) -> KeySet? {
        guard let fetched, now - fetched.done < limits.keptFor else { return nil }
        return set
    }

    /// Since when the keys are known, for people; `nil` for never.
    package var lastFetch: Milliseconds? { fetched?.done }

    /// Unknown keys that are remembered.
    var unknownCount: Int { unknown.count }

    /// The keys do not do for a token: what to do with it.
    ///
    /// - Parameter asked: what ``Answer/wait(since:starts:)`` said, of a token that has waited.
    package mutating func ask(_ lack: Lack, since asked: Int? = nil, now: Milliseconds) -> Answer {
        follow(now)
        let since = asked ?? count
        if isKnownToLack(lack, since: since, now: now) { return .refuse }
        let wait = begun.map { limits.spacing - (now - $0) } ?? 0
        guard !isOver, waiters < limits.waitersMax else { return .unavailable(limits.spacing) }
        if !isFetching {
            // A fetch that failed is not waited for twice.
            if failures > 0, asked != nil || wait > 0 { return .unavailable(max(1, wait)) }
            refreshAt = min(refreshAt, now + wait)
        }
        waiters += 1
        guard !isFetching, wait <= 0 else { return .wait(since: since, starts: false) }
        begin(now)
        return .wait(since: since, starts: true)
    }

    /// Nobody fetches any more.
    package mutating func end(now: Milliseconds) {
        isOver = true
        finished(nil, freshFor: nil, now: now)
        waiters = 0
    }

    /// Time passed: true when a fetch is to begin although no token asks.
    package mutating func tick(now: Milliseconds) -> Bool {
        follow(now)
        let isSpaced = begun.map { now - $0 >= limits.spacing } ?? true
        guard !isFetching, !isOver, now >= refreshAt, isSpaced else { return false }
        begin(now)
        return true
    }

    /// A fetch is over.
    ///
    /// - Parameters:
    ///   - keys: `nil` for one that failed: what is known stays.
    ///   - freshFor: milliseconds, as the issuer says; `nil` where it says nothing.
    package mutating func finished(_ keys: KeySet?, freshFor: Int64?, now: Milliseconds) {
        follow(now)
        guard isFetching else { return }
        isFetching = false
        waiters = 0
        guard let keys else {
            failures += 1
            let backoff = limits.spacing << Int64(min(failures - 1, 16))
            refreshAt = now + min(backoff, limits.retryMax)
            return
        }
        failures = 0
        set = keys
        fetched = (count, now)
        // A fifth ahead of the end, so that there is time for a second try.
        let life = min(max(freshFor ?? limits.freshUsually, limits.freshMin), limits.freshMax)
        refreshAt = now + life / 5 * 4
        unknown = unknown.filter { now - $0.value.since < limits.unknownFor }
    }

    private mutating func begin(_ now: Milliseconds) {
        isFetching = true
        begun = now
        count += 1
    }

    /// Whether keys that were fetched since are without it as well.
    private mutating func isKnownToLack(_ lack: Lack, since: Int, now: Milliseconds) -> Bool {
        switch lack {
        case .noKeys: return false
        case .badSignature:
            // A key that is replaced under its name is replaced once, and these keys are fresh.
            return fetched.map { now - $0.done < limits.spacing || $0.number > since } ?? false
        case .unknownKey(let id):
            // A kid is never empty: that is the token without one.
            let id = id ?? ""
            var first =
                unknown[id].flatMap { now - $0.since < limits.unknownFor ? $0 : nil } ?? (since: now, count: since)
            first.count = min(first.count, since)
            note(id, first)
            return fetched.map { $0.number > first.count } ?? false
        }
    }

    private mutating func note(_ id: String, _ first: (since: Milliseconds, count: Int)) {
        if unknown[id] == nil, unknown.count >= limits.unknownMax,
            let oldest = unknown.min(by: { ($0.value.since, $0.key) < ($1.value.since, $1.key) })
        {
            unknown[oldest.key] = nil
        }
        unknown[id] = first
    }

    /// The system's clock can be set back; then everything that is noted counts as just now, or nothing would be fetched for
    /// as long.
    private mutating func follow(_ now: Milliseconds) {
        if let begun, begun > now { self.begun = now }
        if let fetched, fetched.done > now { self.fetched = (fetched.number, now) }
        for (id, first) in unknown where first.since > now { unknown[id] = (now, first.count) }
        refreshAt = min(refreshAt, now + max(limits.freshMax, limits.retryMax))
    }
}
