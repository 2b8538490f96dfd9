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

    /// Takes one, or tells after how many milliseconds one can be taken; what is refused takes nothing.
    package mutating func take(_ key: Key, now: Milliseconds) -> Int64? {
        let all = Int64(rate.burst) * rate.every
        // Never later than a whole burst from now: a clock that was put back would keep everybody out.
        let full = min(max(recent[key] ?? older[key] ?? now, now), now + all)
        let wait = full + rate.every - (now + all)
        guard wait <= 0 else { return wait }
        if recent[key] == nil, recent.count >= keysMax / 2 {
            older = recent
            recent = [:]
        }
        recent[key] = full + rate.every
        return nil
    }

    /// Those that are remembered.
    package var count: Int { recent.count + older.count }
}
