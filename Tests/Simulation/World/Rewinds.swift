import TidemarkModel
import TidemarkStore

/// A database that goes back: the last commits are lost, as by a failover to a copy that lags behind, or a restored
/// backup. Processes continue or end with it, and one may notice late. No node is notified.
///
/// No check expects a commit that was lost. All expectations begin anew with the state that the database went back
/// to. Until a client is welcomed again, it may show lost records; what it shows, or is sent by a node that has not
/// noticed, is not judged.
final class Rewinds {
    private unowned let world: World
    private var random: SplitMix
    /// The number of rewinds in this course.
    let planned: Int
    private(set) var count = 0
    /// The number of epochs that began.
    var epochs = 0
    /// The number of copies that went back with the database, and of records that these fetched again by ids.
    var tails = 0
    var fetched = 0
    /// The states that were lost.
    private var lost: [OracleState] = []
    /// The state after each of the last commits, the present one last.
    private var past: [(tables: MemoryTables, oracle: Oracle)] = []
    private static let commitsKept = 12

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "rewinds")
        planned = random.chance(300) ? 1 + random.below(6) : 0
    }

    func schedule() {
        for _ in 0..<planned { world.after(random.within(1_500...world.plan.chaosTime)) { self.rewind() } }
    }

    /// Saves the state; called when a batch is in the tables.
    func committed() {
        guard planned > 0 else { return }
        past.append((world.database.tables, world.oracle))
        if past.count > Self.commitsKept { past.removeFirst() }
    }

    /// The records with a state above this number, in any order that ever existed.
    func written(after seq: SequenceNumber) -> Set<RecordKey> {
        var keys: Set<RecordKey> = []
        for state in lost + [world.oracle.state] {
            for key in state.keys where state.history[key]?.last.map({ $0.seq > seq }) == true { keys.insert(key) }
        }
        return keys
    }

    private func rewind() {
        guard past.count > 1 else { return }
        let lost = 1 + random.below(past.count - 1)
        past.removeLast(lost)
        guard let present = past.last else { return }
        count += 1
        world.log("the database loses \(lost) commits and stands at \(present.oracle.head.seq)")
        self.lost.append(world.oracle.state)
        world.database.tables = present.tables
        world.goBack(to: present.oracle)
        for node in world.nodes { node.databaseWentBack() }
        // All processes end with it, or one of them does, or one notices late.
        let fate = random.below(4)
        for node in world.nodes {
            if fate == 0 || (fate == 1 && node.number == 0) { node.crash() }
            if fate == 2, node.number == 0 { node.deafUntil = world.now + random.within(2_000...8_000) }
        }
        for device in world.devices {
            device.watch.databaseWentBack()
            // Messages that a server sent before it closed the connection may still be on their way.
            if let connection = device.connection, !connection.isOpenAtServer { connection.watch.isVoid = true }
        }
    }
}
