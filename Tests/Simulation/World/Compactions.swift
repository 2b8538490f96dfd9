import TidemarkHub
import TidemarkModel
import TidemarkStore

/// The database forgets what is old, while devices are away: with horizons of seconds, where real ones are of months.
final class Compactions {
    private unowned let world: World
    private var random: SplitMix
    let planned: Int
    /// How many tombstones went.
    private(set) var tombstones = 0
    /// What is behind it is not there any more.
    private(set) var horizon: SequenceNumber = 0
    /// How often a device that stood below the horizon was told to fill its scopes anew, and to compare what it holds.
    private(set) var refilled = 0
    private(set) var compared = 0
    private static let keepMax: Milliseconds = 2_500

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "compactions")
        planned = random.chance(500) ? 1 + random.below(6) : 0
    }

    func schedule() {
        for _ in 0..<planned { world.after(random.within(2_500...world.plan.chaosTime)) { self.compact() } }
    }

    func noteReturn(isCompared: Bool) { if isCompared { compared += 1 } else { refilled += 1 } }

    /// Between two batches: the oracle knows no batch that was planned before and written after.
    private func compact() {
        guard world.database.isIdle else { return world.after(1) { self.compact() } }
        // A node reads the order on from where it stands: none is ever as far behind as a horizon.
        let nodes = world.nodes.compactMap { $0.isUp ? $0.tail?.head.time : nil }.min() ?? world.now
        let time = min(world.now - random.within(0...Self.keepMax), nodes)
        let openers = world.schema.collections.filter { $0.scope == .ownRecord }.map(\.name)
        let order = CompactionOrder(time: time, limit: 1 + random.below(9), scopeCollections: Set(openers))
        var all = CompactionStep(horizon: 0, isDone: false)
        while !all.isDone { all = all + world.database.tables.compact(World.workspace, order) }
        world.log("compacts up to \(all.horizon): \(all.tombstones) tombstones, \(all.batches) batches")
        tombstones += all.tombstones
        horizon = max(horizon, all.horizon)
        world.compacted(through: all.horizon)
    }
}
