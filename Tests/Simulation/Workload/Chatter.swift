import Tidemark
import TidemarkModel
import TidemarkWire

/// Users type: each sends an ephemeral message now and then, mostly where they are members, sometimes where they were,
/// or never have been.
final class Chatter {
    private unowned let world: World
    private var random: SplitMix

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "chatter")
    }

    func schedule() {
        for _ in 0..<(2 * world.plan.actionCount) {
            world.after(random.within(0...world.plan.chaosTime)) { self.speak() }
        }
    }

    private func speak() {
        guard let device = random.pick(world.devices.filter { $0.machine != nil }) else { return }
        let listener = random.chance(200) ? random.pick(world.devices) ?? device : device
        guard let scope = random.pick(listener.heldScopes) else { return }
        if random.chance(300) {
            let wanted: Int64 = random.chance(800) ? 1 : 0
            device.feed(.say(Ephemeral(scope: ScopeID(scope), kind: Ephemeral.presence, lifetime: wanted)))
            return
        }
        device.feed(.say(Ephemeral(scope: ScopeID(scope), kind: "typing", lifetime: 6_000)))
    }
}
