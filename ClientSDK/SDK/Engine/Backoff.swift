import TidemarkModel

/// Waits between attempts: doubling, bounded, with full jitter from a seeded generator.
struct Backoff: Sendable {
    private let timing: EngineTiming
    private var attempt = 0
    private var state: UInt64

    init(timing: EngineTiming, seed: UInt64) {
        self.timing = timing
        state = seed
    }

    mutating func reset() { attempt = 0 }

    /// The next wait: between half of the step and all of it.
    mutating func next() -> Int64 {
        let step = min(timing.backoffMax, timing.backoffFirst << Int64(min(attempt, 16)))
        attempt += 1
        return spread(step)
    }

    /// Between half of a length and all of it.
    mutating func spread(_ length: Int64) -> Int64 {
        // SplitMix64, Steele, Lea and Flood 2014.
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        word ^= word >> 31
        return length / 2 + Int64(word % UInt64(max(length, 0) / 2 + 1))
    }
}
