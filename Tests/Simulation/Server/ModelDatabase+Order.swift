import TidemarkModel
import TidemarkStore

/// The contract's `read` and `commit`, as events: lock, read, write, commit, answer.
extension ModelDatabase {
    /// The lock, held while a node that has read under it plans.
    final class ModelTurn: Turn {
        nonisolated(unsafe) private var release: (() -> Void)?

        init(_ release: @escaping () -> Void) { self.release = release }

        /// Called for the commit: the lock now belongs to the transaction.
        func take() -> Bool {
            defer { release = nil }
            return release != nil
        }

        func giveBack() {
            release?()
            release = nil
        }

        func end() async { giveBack() }
    }

    /// One batch on its way.
    struct Commit {
        let lease: Lease
        let planned: PlannedBatch
        /// The submissions in it, for the oracle.
        let steps: [SubmittedStep]
        let done: (Result<Commitment, StoreError>) -> Void
    }

    private static let idleTimeout: Milliseconds = 3_000

    // MARK: Reading

    func read(_ reads: ReadSet, _ lease: Lease, done: @escaping (Result<Reading, StoreError>) -> Void) {
        let fail = { self.world.after(self.delay()) { if lease.isHeld { done(.failure(Self.unavailable)) } } }
        world.after(delay()) {
            self.lock(lease, timeout: fail) {
                let stall = self.strikes(self.faults.lockStall) ? self.random.within(500...5_000) : 0
                self.world.after(self.delay() + stall) {
                    guard stall < Self.idleTimeout else {
                        self.unlock()
                        return fail()
                    }
                    guard lease.isHeld else { return self.unlock() }
                    let turn = ModelTurn { self.unlock() }
                    done(.success(Reading(self.tables.read(reads, in: World.workspace), turn: turn)))
                    // A process that died meanwhile has closed its connection.
                    if !lease.isHeld { turn.giveBack() }
                }
            }
        }
    }

    // MARK: Commit

    func commit(_ commit: Commit) {
        if let turn = commit.planned.turn as? ModelTurn {
            guard turn.take() else { return world.broke(.tiling, "a lock was used twice") }
            return world.after(delay()) { self.write(commit) }
        }
        world.after(delay()) {
            self.lock(commit.lease, timeout: { self.answer(commit, .failure(Self.unavailable)) }) {
                self.world.after(self.delay()) {
                    guard commit.lease.isHeld else { return self.unlock() }
                    self.write(commit)
                }
            }
        }
    }

    /// Writes the batch; the lock is held.
    private func write(_ commit: Commit) {
        let batch = commit.planned.batch
        // A node that dies at this moment may have sent its COMMIT before.
        if !commit.lease.isHeld, random.chance(500) { return unlock() }
        let refusesData = batch.settlements.contains { settlement in
            settlement.results.contains { $0.rejection == nil && world.poison.contains($0.transaction) }
        }
        let burying = writers(intoErased: batch)
        world.poison.formUnion(burying)
        if refusesData || !burying.isEmpty {
            unlock()
            return answer(commit, .failure(burying.isEmpty ? StoreError(.data, "poison") : .erasedScope))
        }
        let isUnknown = strikes(faults.commitUnknown)
        if strikes(faults.commitFails) {
            unlock()
            return isUnknown ? lookUp(commit) : answer(commit, .failure(Self.unavailable))
        }
        var result = Commitment.moved
        do {
            result = try tables.commit(commit.planned, in: World.workspace, by: UInt64(commit.lease.node.number))
        } catch {
            world.broke(.tiling, "the tables refused a batch: \(error)")
        }
        if case .written = result {
            world.committed(batch, from: commit.steps)
            let ids = commit.planned.clients.map(\.row.id)
            if tables.storedClients(ids, in: World.workspace) != commit.planned.clients {
                world.broke(.exactlyOnce, "a node has clients in another state than the tables")
            }
        } else if commit.planned.turn != nil, world.rewinds.count == 0 {
            world.broke(.tiling, "the order moved under a lock")
        }
        unlock()
        if isUnknown, case .written = result { lookUp(commit) } else { answer(commit, .success(result)) }
    }

    /// Transactions that write into an erased scope whose tombstone is behind the horizon: an old file has them.
    private func writers(intoErased batch: CommittedBatch) -> Set<TransactionID> {
        guard world.files.areUsed || world.salvages.saved > 0 else { return [] }
        let written = batch.records.filter { !$0.isDeleted && tables.isErased($0.scope, in: World.workspace) }
        let results = batch.settlements.flatMap(\.results).filter { $0.rejection == nil }
            .sorted { $0.seq < $1.seq }
        return Set(written.compactMap { record in results.first { $0.seq >= record.seq }?.transaction })
    }

    // MARK: Epochs

    /// Begins an epoch under the lock, as a step of its own; `done` gets `nil` when it failed.
    func raiseEpoch(_ raise: EpochRaise, _ lease: Lease, done: @escaping (EpochOutcome?) -> Void) {
        let answer = { (outcome: EpochOutcome?) in
            self.world.after(self.delay()) { if lease.isHeld { done(outcome) } }
        }
        world.after(delay()) {
            self.lock(lease, timeout: { answer(nil) }) {
                self.world.after(self.delay()) {
                    defer { self.unlock() }
                    guard lease.isHeld, !self.strikes(self.faults.commitFails) else { return answer(nil) }
                    do {
                        let outcome = try self.tables.raiseEpoch(raise, in: World.workspace)
                        if case .raised(let start, let head) = outcome { self.world.epochBegan(start, head) }
                        answer(self.strikes(self.faults.commitUnknown) ? nil : outcome)
                    } catch {
                        self.world.broke(.epochs, "\(error)")
                    }
                }
            }
        }
    }

    /// the answer to COMMIT was lost; the batch's nonce, read under the lock, shows whether it succeeded.
    private func lookUp(_ commit: Commit) {
        let batch = commit.planned.batch
        world.log("commit of \(batch.low) unknown")
        world.after(random.within(20...2_000)) {
            self.lock(commit.lease, timeout: { self.lookUp(commit) }) {
                let found = self.tables.batch(holding: batch.low, in: World.workspace)
                self.unlock()
                let isWritten = found?.nonce == batch.head.nonce
                self.answer(commit, isWritten ? .success(.written(isHeard: false)) : .failure(Self.unavailable))
            }
        }
    }

    private func answer(_ commit: Commit, _ result: Result<Commitment, StoreError>) {
        world.after(delay()) { if commit.lease.isHeld { commit.done(result) } }
    }
}
