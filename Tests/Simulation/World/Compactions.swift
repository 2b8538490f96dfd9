import TidemarkHub
import TidemarkModel
import TidemarkStore

/// The database forgets old data while devices are away: its horizons are seconds, where real ones are months.
final class Compactions {
    private unowned let world: World
    private var random: SplitMix
    let planned: Int
    /// The number of tombstones that were deleted.
    private(set) var tombstones = 0
    /// The number up to which the database has forgotten the past.
    private(set) var horizon: SequenceNumber = 0
    /// The number of times that the server asked a device below the horizon to fill and compare its copy anew.
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

    /// Compacts between two batches: the oracle cannot handle a batch that was planned before and written after.
    private func compact() {
        guard world.database.isIdle else { return world.after(1) { self.compact() } }
        // A node continues reading at its position: in production no node is ever as far behind as a horizon.
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
