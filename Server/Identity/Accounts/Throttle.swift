package import TidemarkModel

/// A rate: so many at once after a pause, then one in so many milliseconds.
package struct ThrottleRate: Hashable, Sendable {
    package var burst: Int
    package var every: Milliseconds

    package init(burst: Int, every: Milliseconds) {
        self.burst = max(1, burst)
        self.every = max(1, every)
    }
}

/// Limits each of many keys to a rate: pure, with one number for each (the time at which its whole burst is available
/// again).
///
/// It remembers a bounded number of keys: after so many other ones, a key that was idle meanwhile is forgotten.
package struct Throttle<Key: Hashable & Sendable>: Sendable {
    private let rate: ThrottleRate
    private let keysMax: Int
    // Two halves: the older one is dropped when the other is full, in constant time.
    private var recent: [Key: Milliseconds] = [:]
    private var older: [Key: Milliseconds] = [:]

    package init(_ rate: ThrottleRate, keysMax: Int = 20_000) {
        self.rate = rate
        self.keysMax = max(2, keysMax)
    }

    /// Returns the milliseconds until one can be taken; `nil` for now.
    package func wait(for key: Key, now: Milliseconds) -> Int64? {
        let wait = full(key, now) + rate.every - (now + Int64(rate.burst) * rate.every)
        return wait > 0 ? wait : nil
    }

    /// Takes one, or returns the milliseconds until one can be taken; a refusal takes nothing.
    package mutating func take(_ key: Key, now: Milliseconds) -> Int64? {
        if let wait = wait(for: key, now: now) { return wait }
        let full = full(key, now)
        if recent[key] == nil, recent.count >= keysMax / 2 {
            older = recent
            recent = [:]
        }
        recent[key] = full + rate.every
        return nil
    }

    /// Returns the time at which the whole burst is available again. It cannot be later than a whole burst from now:
    /// then the clock was set back, and the remembered time is ignored.
    private func full(_ key: Key, _ now: Milliseconds) -> Milliseconds {
        guard let known = recent[key] ?? older[key], known > now, known <= now + Int64(rate.burst) * rate.every else {
            return now
        }
        return known
    }

    /// The number of remembered keys.
    package var count: Int { recent.count + older.count }
}
