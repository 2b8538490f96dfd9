import TidemarkModel

/// The frequency of each fault, in a thousand opportunities. Each seed draws a subset: faults that mask each other hide
/// bugs.
struct FaultRates {
    // Network.
    var cut = 0
    var halfOpen = 0
    var ghost = 0
    var dialFails = 0
    // Devices.
    var kill = 0
    var diskFails = 0
    var background = 0
    var stall = 0
    // Nodes.
    var crash = 0
    var drain = 0
    var clockJump = 0
    // Database.
    var commitFails = 0
    var commitUnknown = 0
    var lockStall = 0
    var readFails = 0
    var poison = 0
    // Hints between nodes.
    var hintLost = 0
    var hintTwice = 0

    init(_ random: inout SplitMix) {
        // One seed in twelve runs without faults: plain concurrency has bugs of its own.
        if random.chance(83) { return }
        let all: [(WritableKeyPath<FaultRates, Int>, Int)] = [
            (\.cut, 40), (\.halfOpen, 20), (\.ghost, 600), (\.dialFails, 300), (\.kill, 30), (\.diskFails, 20),
            (\.background, 300), (\.stall, 300), (\.crash, 6), (\.drain, 120), (\.clockJump, 400),
            (\.commitFails, 120), (\.commitUnknown, 200), (\.lockStall, 80), (\.readFails, 60), (\.poison, 60),
            (\.hintLost, 600), (\.hintTwice, 300),
        ]
        for (path, most) in all where random.chance(550) { self[keyPath: path] = 1 + random.below(most) }
    }
}
