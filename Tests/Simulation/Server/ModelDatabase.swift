import TidemarkModel
import TidemarkStore

/// The authority as a model: tables in memory, one lock, commit points in time, and the faults of a database.
final class ModelDatabase {
    /// One database transaction of the order on its way.
    struct Step {
        let lease: Lease
        let reads: ReadSet
        let steps: [SubmittedStep]
        let plan: (ReadResult) -> CommittedBatch?
        let done: (Result<CommittedBatch?, StoreError>) -> Void
    }

    unowned let world: World
    private(set) var tables: MemoryTables
    var random: SplitMix
    private var isLocked = false
    private var waiting: [(id: Int, run: () -> Void)] = []
    private var lastWaiter = 0
    private var faults: FaultRates { world.plan.faults }
    private static let lockTimeout: Milliseconds = 2_000
    private static let idleTimeout: Milliseconds = 3_000

    init(_ world: World) {
        self.world = world
        tables = MemoryTables(limits: world.plan.store)
        random = SplitMix(seed: world.plan.seed, "database")
    }

    // MARK: The order

    /// The contract's `sequence`, as events: lock, read and plan, write and commit, answer.
    func sequence(_ step: Step) {
        world.after(delay()) {
            self.lock(step.lease, timeout: { step.done(.failure(Self.unavailable)) }) { self.read(step) }
        }
    }

    private func read(_ step: Step) {
        let stall = strikes(faults.lockStall) ? random.within(500...5_000) : 0
        world.after(delay() + stall) {
            guard stall < Self.idleTimeout else { return self.fail(step) }
            guard step.lease.isHeld else { return self.unlock() }
            guard let batch = step.plan(self.tables.read(step.reads, in: World.workspace)) else {
                self.unlock()
                return self.answer(step, .success(nil))
            }
            self.world.after(self.delay()) { self.commit(step, batch) }
        }
    }

    private func commit(_ step: Step, _ batch: CommittedBatch) {
        // A node that died now may have sent its COMMIT before.
        if !step.lease.isHeld, random.chance(500) { return unlock() }
        let refusesData = batch.settlements.contains { settlement in
            settlement.results.contains { $0.rejection == nil && world.poison.contains($0.transaction) }
        }
        if refusesData {
            unlock()
            return answer(step, .failure(StoreError(.data, "poison")))
        }
        let isUnknown = strikes(faults.commitUnknown)
        if strikes(faults.commitFails) {
            unlock()
            return isUnknown ? lookUp(step, batch) : answer(step, .failure(Self.unavailable))
        }
        do {
            try tables.write(batch, in: World.workspace)
        } catch {
            world.broke(.tiling, "the tables refused a batch: \(error)")
        }
        world.committed(batch, from: step.steps)
        unlock()
        if isUnknown { lookUp(step, batch) } else { answer(step, .success(batch)) }
    }

    /// the answer to COMMIT was lost; the batch's nonce tells, under the lock.
    private func lookUp(_ step: Step, _ batch: CommittedBatch) {
        world.log("commit of \(batch.low) unknown")
        world.after(random.within(20...2_000)) {
            self.lock(step.lease, timeout: { self.lookUp(step, batch) }) {
                let found = self.tables.batch(holding: batch.low, in: World.workspace)
                if found?.nonce == batch.head.nonce {
                    self.unlock()
                    self.answer(step, .success(batch))
                } else {
                    self.read(step)
                }
            }
        }
    }

    private func fail(_ step: Step) {
        unlock()
        answer(step, .failure(Self.unavailable))
    }

    private func answer(_ step: Step, _ result: Result<CommittedBatch?, StoreError>) {
        world.after(delay()) { if step.lease.isHeld { step.done(result) } }
    }

    // MARK: The lock

    private func lock(_ lease: Lease, timeout: @escaping () -> Void, _ body: @escaping () -> Void) {
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

    private func unlock() {
        guard !waiting.isEmpty else { return isLocked = false }
        waiting.removeFirst().run()
    }

    // MARK: Everything else

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

    /// The lock is taken by nobody and wanted by nobody.
    var isIdle: Bool { !isLocked && waiting.isEmpty }

    private static let unavailable = StoreError(.unavailable, "fault")

    private func strikes(_ rate: Int) -> Bool { world.isChaotic && random.chance(rate) }

    private func delay() -> Milliseconds { random.chance(50) ? random.within(10...400) : random.within(0...4) }
}

/// A node's life: what a process began ends with it.
struct Lease {
    let node: ServerNode
    let incarnation: Int

    var isHeld: Bool { node.isUp && node.incarnation == incarnation }
}
