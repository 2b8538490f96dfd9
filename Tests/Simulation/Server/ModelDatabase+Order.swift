import TidemarkModel
import TidemarkStore

/// The contract's `sequence`, as events: from memory or from what is read under the lock, write and commit, answer.
extension ModelDatabase {
    /// One step of the order on its way.
    struct Step {
        let lease: Lease
        let reads: ReadSet
        let isAhead: Bool
        /// What the node remembers.
        let memories: OrderMemories
        let steps: [SubmittedStep]
        let plan: (ReadResult) -> CommittedBatch?
        let done: (Result<CommittedBatch?, StoreError>) -> Void
    }

    private static let idleTimeout: Milliseconds = 3_000

    func sequence(_ step: Step) {
        if let guess = guess(step) {
            return world.after(delay()) {
                self.lock(step.lease, timeout: { self.answer(step, .failure(Self.unavailable)) }) {
                    self.check(step, guess)
                }
            }
        }
        guard !step.isAhead else { return answer(step, .failure(.overtaken)) }
        look(step)
    }

    // MARK: From memory

    private func guess(_ step: Step) -> Guess? {
        var loan = step.memories.take(World.workspace)
        defer { step.memories.put(loan, World.workspace) }
        do {
            return try loan.memory.guess(step.reads, hasListeners: false, plan: step.plan)
        } catch {
            world.broke(.tiling, "a batch planned from memory: \(error)")
            return nil
        }
    }

    private func check(_ step: Step, _ guess: Guess) {
        world.after(delay()) {
            guard step.lease.isHeld else { return self.unlock() }
            var births = ReadSet()
            births.records = step.reads.births.map(\.record)
            let stored = self.tables.read(births, in: World.workspace)
            guard stored.head == guess.ground, stored.records.isEmpty else {
                self.unlock()
                step.memories.forget(World.workspace, doubting: !step.isAhead)
                return step.isAhead ? self.answer(step, .failure(.overtaken)) : self.look(step)
            }
            self.world.after(self.delay()) {
                self.commit(step, guess.batch, again: { self.answer(step, .failure(Self.unavailable)) }) {
                    let ids = guess.clients.map(\.row.id)
                    guard self.tables.storedClients(ids, in: World.workspace) != guess.clients else { return }
                    self.world.broke(.exactlyOnce, "a node remembers clients otherwise than they are stored")
                }
            }
        }
    }

    // MARK: From what is stored

    private func look(_ step: Step) {
        world.after(delay()) {
            self.lock(step.lease, timeout: { self.answer(step, .failure(Self.unavailable)) }) { self.read(step) }
        }
    }

    private func read(_ step: Step) {
        let stall = strikes(faults.lockStall) ? random.within(500...5_000) : 0
        world.after(delay() + stall) {
            guard stall < Self.idleTimeout else {
                self.unlock()
                return self.answer(step, .failure(Self.unavailable))
            }
            guard step.lease.isHeld else { return self.unlock() }
            let found = self.tables.read(step.reads, in: World.workspace)
            var loan = step.memories.take(World.workspace)
            let clients = self.tables.storedClients(step.reads.clients.map(\.client), in: World.workspace)
            loan.memory.found(at: found.head, heard: nil, clients: clients, grants: found.grants)
            guard let batch = step.plan(found) else {
                self.unlock()
                step.memories.put(loan, World.workspace)
                return self.answer(step, .success(nil))
            }
            self.world.after(self.delay()) {
                self.commit(step, batch, again: { self.look(step) }) {
                    let settled = self.tables.storedClients(batch.settlements.map(\.client.id), in: World.workspace)
                    loan.memory.committed(batch, clients: settled)
                    step.memories.put(loan, World.workspace)
                }
            }
        }
    }

    // MARK: Commit

    /// - Parameters:
    ///   - again: the outcome was unknown, and it turned out that nothing was written.
    ///   - written: called under the lock.
    private func commit(
        _ step: Step, _ batch: CommittedBatch, again: @escaping () -> Void, written: () -> Void
    ) {
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
            return isUnknown ? lookUp(step, batch, again) : answer(step, .failure(Self.unavailable))
        }
        // Its connection was lost with what it has read.
        guard world.rewinds.count == 0 || tables.read(ReadSet(), in: World.workspace).head.seq + 1 == batch.low else {
            unlock()
            return answer(step, .failure(Self.unavailable))
        }
        do {
            try tables.write(batch, in: World.workspace, by: UInt64(step.lease.node.number))
        } catch {
            world.broke(.tiling, "the tables refused a batch: \(error)")
        }
        world.committed(batch, from: step.steps)
        written()
        unlock()
        if isUnknown { lookUp(step, batch, again) } else { answer(step, .success(batch)) }
    }

    /// the answer to COMMIT was lost; the batch's nonce tells, under the lock.
    private func lookUp(_ step: Step, _ batch: CommittedBatch, _ again: @escaping () -> Void) {
        world.log("commit of \(batch.low) unknown")
        step.memories.forget(World.workspace)
        world.after(random.within(20...2_000)) {
            self.lock(step.lease, timeout: { self.lookUp(step, batch, again) }) {
                let found = self.tables.batch(holding: batch.low, in: World.workspace)
                self.unlock()
                if found?.nonce == batch.head.nonce { self.answer(step, .success(batch)) } else { again() }
            }
        }
    }

    private func answer(_ step: Step, _ result: Result<CommittedBatch?, StoreError>) {
        // A step that could not be planned ahead has promised nothing.
        if case .failure(let error) = result, error != .overtaken { step.memories.forget(World.workspace) }
        world.after(delay()) { if step.lease.isHeld { step.done(result) } }
    }
}
