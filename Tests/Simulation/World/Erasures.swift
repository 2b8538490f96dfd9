import TidemarkModel
import TidemarkStore

/// Scopes are erased while devices write into them, are away, or fetch their pages.
final class Erasures {
    private unowned let world: World
    private var random: SplitMix
    let planned: Int
    /// The erased scopes, with the number of records that each had.
    private(set) var erased: [ScopeID: Int] = [:]

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "erasures")
        planned = random.chance(400) ? 1 + random.below(4) : 0
    }

    func schedule() {
        for _ in 0..<planned { world.after(random.within(2_000...world.plan.chaosTime)) { self.erase() } }
    }

    /// Erases between two batches: the oracle cannot handle a batch that was planned before and written after.
    private func erase() {
        guard world.database.isIdle else { return world.after(1) { self.erase() } }
        let state = world.oracle.state
        let rooms = state.keys.filter { key in
            key.collection == "conversations" && state.current(key).map { !$0.isDeleted } ?? false
        }
        guard let room = random.pick(rooms) else { return }
        let scope = ScopeID(record: room.id)
        var tables = world.database.tables
        guard tables.beginErasure(of: scope, in: World.workspace) != nil else { return }
        var reads = ReadSet()
        reads.records = [room]
        let found = tables.read(reads, in: World.workspace)
        let users = tables.members(of: scope, in: World.workspace, after: nil, limit: .max).users
        let batch = CommittedBatch.ending(
            users, of: scope, burying: found.records.values, after: found.head, nonce: random.next(), now: world.now)
        do { try tables.write(batch, in: World.workspace) } catch { return world.broke(.tiling, "\(error)") }
        var all = ErasureStep(isDone: false)
        while !all.isDone {
            all = all + tables.erase(scope, in: World.workspace, keeping: [room], limit: 1 + random.below(5))
        }
        world.database.tables = tables
        world.log("erases \(scope): \(all.records) records, \(users.count) members, \(all.bodies) bodies")
        erased[scope] = all.records
        world.erased(scope, by: batch)
    }
}
