package import TidemarkModel

/// The keys of one issuer that publishes them at a URL, as a pure machine: it decides when they are fetched, and what
/// an unknown key means until then. The caller fetches, and supplies the time.
///
/// A token is refused for its key only when keys that were fetched since then do not fit it. Until then nothing is
/// known about the token, and no user may be asked to sign in again. It waits for the next fetch; an endpoint that is
/// down is no reason.
package struct KeyCache: Sendable {
    /// Bounds on times and numbers; times in milliseconds.
    package struct Limits: Hashable, Sendable {
        /// Milliseconds between the starts of two fetches.
        package var spacing: Int64 = 10_000
        /// The time for which keys stay valid that could not be fetched again.
        package var keptFor: Int64 = 24 * 3_600_000
        /// The time after which keys are fetched anew, if the issuer does not state one.
        package var freshUsually: Int64 = 300_000
        /// Bounds on the time that the issuer states.
        package var freshMin: Int64 = 60_000
        package var freshMax: Int64 = 6 * 3_600_000
        /// The longest pause between tries of an endpoint that is down, when no token asks; pauses double up to it.
        package var retryMax: Int64 = 300_000
        /// The number of unknown keys that are remembered, and the time for which one is known to be missing.
        package var unknownMax = 256
        package var unknownFor: Int64 = 60_000
        /// Tokens that wait for a fetch.
        package var waitersMax = 4_096

        package init() {}
    }

    /// The reason why the keys do not suffice.
    package enum Lack: Hashable, Sendable {
        /// There are none.
        case noKeys
        /// No key has this `kid`, or fits a token without one.
        case unknownKey(String?)
        /// No key that fits the token has signed it.
        case badSignature
    }

    /// The answer for a token whose key is not among the known ones.
    package enum Answer: Hashable, Sendable {
        /// Look again after a fetch, with `since`: the number of fetches that had begun when the token arrived.
        /// `starts` means begin one.
        case wait(since: Int, starts: Bool)
        /// The keys are as fresh as can be: the token is at fault.
        case refuse
        /// Undecided now; try again in so many milliseconds.
        case unavailable(Int64)
    }

    private let limits: Limits
    private var set: KeySet?
    /// The last good fetch: its number, and the time of its end.
    private var fetched: (number: Int, done: Milliseconds)?
    /// The time at which the last fetch, good or not, began.
    private var begun: Milliseconds?
    /// The number of begun fetches, which shows whether one began after a token arrived, however close the times are.
    private var count = 0
    package private(set) var isFetching = false
    private var isOver = false
    private(set) var waiters = 0
    private var refreshAt: Milliseconds = 0
    private var failures = 0
    /// Keys that were asked for and missing, each with its first time, and the number of fetches at that time.
    private var unknown: [String: (since: Milliseconds, count: Int)] = [:]

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Returns the keys to check with; `nil` while there are none that are young enough.
    package func keys(now: Milliseconds) -> KeySet? {
        guard let fetched, now - fetched.done < limits.keptFor else { return nil }
        return set
    }

    /// The time of the last good fetch, for people; `nil` for never.
    package var lastFetch: Milliseconds? { fetched?.done }

    /// The number of unknown keys that are remembered.
    var unknownCount: Int { unknown.count }

    /// Decides about a token for which the keys do not suffice.
    ///
    /// - Parameter asked: the `since` of ``Answer/wait(since:starts:)``, for a token that has waited.
    package mutating func ask(_ lack: Lack, since asked: Int? = nil, now: Milliseconds) -> Answer {
        follow(now)
        let since = asked ?? count
        if isKnownToLack(lack, since: since, now: now) { return .refuse }
        let wait = begun.map { limits.spacing - (now - $0) } ?? 0
        guard !isOver, waiters < limits.waitersMax else { return .unavailable(limits.spacing) }
        if !isFetching {
            // No token waits twice for a fetch that failed.
            if failures > 0, asked != nil || wait > 0 { return .unavailable(max(1, wait)) }
            refreshAt = min(refreshAt, now + wait)
        }
        waiters += 1
        guard !isFetching, wait <= 0 else { return .wait(since: since, starts: false) }
        begin(now)
        return .wait(since: since, starts: true)
    }

    /// Ends all waiting, because nothing is fetched any more.
    package mutating func end(now: Milliseconds) {
        isOver = true
        finished(nil, freshFor: nil, now: now)
        waiters = 0
    }

    /// Lets time pass; true when a fetch must begin although no token asks.
    package mutating func tick(now: Milliseconds) -> Bool {
        follow(now)
        let isSpaced = begun.map { now - $0 >= limits.spacing } ?? true
        guard !isFetching, !isOver, now >= refreshAt, isSpaced else { return false }
        begin(now)
        return true
    }

    /// Ends a fetch.
    ///
    /// - Parameters:
    ///   - keys: `nil` if the fetch failed: the known keys stay.
    ///   - freshFor: the issuer's statement in milliseconds; `nil` if it makes none.
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
        // A fifth before the end, so that there is time for a second try.
        let life = min(max(freshFor ?? limits.freshUsually, limits.freshMin), limits.freshMax)
        refreshAt = now + life / 5 * 4
        unknown = unknown.filter { now - $0.value.since < limits.unknownFor }
    }

    private mutating func begin(_ now: Milliseconds) {
        isFetching = true
        begun = now
        count += 1
    }

    /// Whether keys that were fetched since then lack it as well.
    private mutating func isKnownToLack(_ lack: Lack, since: Int, now: Milliseconds) -> Bool {
        switch lack {
        case .noKeys: return false
        case .badSignature:
            // A key that is replaced under its name is replaced once, and these keys are fresh.
            return fetched.map { now - $0.done < limits.spacing || $0.number > since } ?? false
        case .unknownKey(let id):
            // A kid is never empty: the empty text means a token without one.
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

    /// The system's clock can be set back. Then all remembered times are set to now; otherwise nothing would be fetched
    /// for that long.
    private mutating func follow(_ now: Milliseconds) {
        if let begun, begun > now { self.begun = now }
        if let fetched, fetched.done > now { self.fetched = (fetched.number, now) }
        for (id, first) in unknown where first.since > now { unknown[id] = (now, first.count) }
        refreshAt = min(refreshAt, now + max(limits.freshMax, limits.retryMax))
    }
}
