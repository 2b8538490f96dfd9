/// SplitMix64: the same numbers for the same seed, on every system.
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }

    mutating func below(_ bound: UInt64) -> UInt64 { UInt64.random(in: 0..<bound, using: &self) }
    mutating func chance(_ percent: UInt64) -> Bool { below(100) < percent }
}
