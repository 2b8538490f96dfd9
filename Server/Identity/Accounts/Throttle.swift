package import TidemarkModel

/// How often something may be done by one who does it: so many at once after a pause, then one in so many milliseconds.
package struct ThrottleRate: Hashable, Sendable {
    package var burst: Int
    package var every: Milliseconds

    package init(burst: Int, every: Milliseconds) {
        self.burst = max(1, burst)
        self.every = max(1, every)
    }
}

/// Holds each of many to a rate: pure, with one number for each (the time at which all of its burst is back).
///
/// It remembers a bounded number of them: once so many others have come, whoever was quiet meanwhile is forgotten.
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

    /// After how many milliseconds one can be taken; `nil` for now.
    package func wait(for key: Key, now: Milliseconds) -> Int64? {
        let wait = full(key, now) + rate.every - (now + Int64(rate.burst) * rate.every)
        return wait > 0 ? wait : nil
    }

    /// Takes one, or tells after how many milliseconds one can be taken; what is refused takes nothing.
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

    /// When all of the burst is back. Later than a whole burst from now it cannot be: then the clock was put back, and what it said
    /// counts for nothing.
    private func full(_ key: Key, _ now: Milliseconds) -> Milliseconds {
        guard let known = recent[key] ?? older[key], known > now, known <= now + Int64(rate.burst) * rate.every else {
            return now
        }
        return known
    }

    /// Those that are remembered.
    package var count: Int { recent.count + older.count }
}
