import TidemarkModel

/// Waits between attempts: a second at first, then an eighth of what was waited so far, bounded, with jitter from a seeded
/// generator.
///
/// So whoever has waited for a while waits at most an eighth of that longer than he must: after a restart of eight seconds everybody
/// is back a second later, and an hour's outage costs two or three attempts a minute. How long a connection lasted is taken off what was
/// waited: a server that ends each connection at once is asked ever less often, one that served for a while is not.
struct Backoff: Sendable {
    private let timing: EngineTiming
    /// Since the first failure, less what connections have lasted.
    private var waited: Int64 = 0
    private var state: UInt64

    init(timing: EngineTiming, seed: UInt64) {
        self.timing = timing
        state = seed
    }

    mutating func reset() { waited = 0 }

    /// A connection is over that lasted for so many milliseconds.
    mutating func lasted(_ time: Int64) { waited = max(0, waited - max(0, time)) }

    /// The next wait: between half of the step and all of it.
    mutating func next() -> Int64 {
        let wait = spread(min(timing.backoffMax, max(timing.backoffFirst, waited / 8)))
        waited += wait
        return wait
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

extension Backoff: RecordedMembers {
    mutating func members(_ all: inout MachineMembers) {
        all.member("waited", &waited)
        all.member("state", &state)
    }
}
