import TidemarkModel
import TidemarkStore

/// The authority as a model: tables in memory, one lock, commit points in time, and the faults of a database.
final class ModelDatabase {
    unowned let world: World
    var tables: MemoryTables
    var random: SplitMix
    private var isLocked = false
    private var waiting: [(id: Int, run: () -> Void)] = []
    private var lastWaiter = 0
    var faults: FaultRates { world.plan.faults }
    private static let lockTimeout: Milliseconds = 2_000

    init(_ world: World) {
        self.world = world
        tables = MemoryTables(limits: world.plan.store)
        random = SplitMix(seed: world.plan.seed, "database")
    }

    // MARK: The lock

    func lock(_ lease: Lease, timeout: @escaping () -> Void, _ body: @escaping () -> Void) {
        guard lease.isHeld else { return }
        guard isLocked else {
            isLocked = true
            return body()
        }
        lastWaiter += 1
        let id = lastWaiter
        waiting.append((id, { if lease.isHeld { body() } else { self.unlock() } }))
        world.after(Self.lockTimeout) {
            guard self.waiting.contains(where: { $0.id == id }) else { return }
            self.waiting.removeAll { $0.id == id }
            if lease.isHeld { timeout() }
        }
    }

    func unlock() {
        guard !waiting.isEmpty else { return isLocked = false }
        waiting.removeFirst().run()
    }

    // MARK: Other calls

    /// Runs a call with the delays and failures of a database; `done` gets `nil` when it failed.
    func call<Answer>(
        _ lease: Lease, _ body: @escaping (inout MemoryTables) -> Answer, done: @escaping (Answer?) -> Void
    ) {
        let fails = strikes(faults.readFails)
        world.after(delay()) {
            let answer = fails ? nil : body(&self.tables)
            self.world.after(self.delay()) { if lease.isHeld { done(answer) } }
        }
    }

    /// True when no node holds the lock or waits for it.
    var isIdle: Bool { !isLocked && waiting.isEmpty }

    static let unavailable = StoreError(.unavailable, "fault")

    func strikes(_ rate: Int) -> Bool { world.isChaotic && random.chance(rate) }

    func delay() -> Milliseconds { random.chance(50) ? random.within(10...400) : random.within(0...4) }
}

/// A node's life: everything that a process began ends with it.
struct Lease {
    let node: ServerNode
    let incarnation: Int

    var isHeld: Bool { node.isUp && node.incarnation == incarnation }
}
