import TidemarkModel

@testable import Tidemark

/// Faults that strike at any time: background suspensions, stalls, drains, clock jumps.
final class Mischief {
    private unowned let world: World
    private var random: SplitMix

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "mischief")
    }

    func schedule() {
        let faults = world.plan.faults
        var time: Milliseconds = 500
        while time < world.plan.chaosTime {
            let device = world.devices[random.below(world.devices.count)]
            let node = world.nodes[random.below(world.nodes.count)]
            if random.chance(faults.background) {
                let length = random.within(100...6_000)
                world.after(time) { device.enterBackground(for: length) }
            }
            if random.chance(faults.stall) {
                let length = random.within(200...9_000)
                world.after(time) { device.stall(for: length) }
            }
            if random.chance(faults.clockJump) {
                let jump = random.within(-15_000...15_000)
                if random.chance(500) {
                    // Users set clocks by days; those of servers run on.
                    let date = random.chance(300) ? random.within(-86_400_000...86_400_000) : jump
                    world.after(time) { device.clockOffset = date }
                } else {
                    world.after(time) { node.clockOffset = jump }
                }
            }
            if random.chance(faults.drain) { world.after(time) { node.drain() } }
            time += random.within(200...2_000)
        }
        scheduleTrimming()
        scheduleLooks()
    }

    /// The daily comparison happens at any moment.
    private func scheduleLooks() {
        var random = SplitMix(seed: world.plan.seed, "looks")
        guard random.chance(500) else { return }
        for device in world.devices {
            for _ in 0..<3 { world.after(random.within(500...world.plan.chaosTime)) { device.feed(.compare) } }
        }
    }

    /// Devices run out of space, and users scroll back to what was evicted.
    private func scheduleTrimming() {
        var random = SplitMix(seed: world.plan.seed, "cache")
        var time: Milliseconds = 1_000
        while time < world.plan.chaosTime {
            let device = world.devices[random.below(world.devices.count)]
            let rows = 1 + random.below(6)
            if random.chance(600) {
                world.after(time) { device.trimCache(to: rows) }
            } else {
                world.after(time) { device.loadOlder(rows: rows) }
            }
            time += random.within(200...3_000)
        }
    }
}
