import GRDB
import TidemarkModel
import TidemarkSQLite
import TidemarkStore

/// One step of a workspace's order on the writing connection: `BEGIN IMMEDIATE` is the workspace's lock.
struct SequenceStep {
    let db: Database
    let workspace: WorkspaceID
    let limits: StoreLimits
    let listeners: Listeners
    let places: ScopePlaces
    let filing: Filing

    /// A record that was taken for absent is there.
    struct Collision: Error {}

    /// Reads what `memory` does not hold, plans, writes and commits.
    func run(
        _ reads: ReadSet, _ memory: inout OrderMemory, plan: (ReadResult) -> CommittedBatch?
    ) throws -> CommittedBatch? {
        do {
            return try attempt(reads, &memory, plan)
        } catch is Collision {
            return try attempt(reads.lookingAtBirths, &memory, plan)
        }
    }

    /// Commits a batch that was planned from memory, if the workspace stands where the memory did.
    ///
    /// - Parameter births: what the plan took for absent.
    /// - Returns: false when it does not, or one of the births is there: nothing was written.
    func commit(_ guess: Guess, births: [ReadSet.RecordSeat]) throws -> Bool {
        do {
            try db.beginTransaction(.immediate)
            guard try head() ?? .start == guess.ground else {
                try db.rollback()
                return false
            }
            try write(guess.batch, guess.clients, births: Set(births.map(\.record)))
            try db.commit()
            return true
        } catch is Collision {
            leaveTransaction()
            return false
        } catch {
            leaveTransaction()
            // A commit that failed half-way may have happened: the nonce tells.
            guard try head() == guess.batch.head else { throw error }
            return true
        }
    }

    private func attempt(
        _ reads: ReadSet, _ memory: inout OrderMemory, _ plan: (ReadResult) -> CommittedBatch?
    ) throws -> CommittedBatch? {
        var planned: CommittedBatch?
        do {
            try db.beginTransaction(.immediate)
            let found = try StepReads(db: db, workspace: workspace).find(reads, at: try head() ?? .start, &memory)
            var asked = found
            asked.hasListeners = listeners.isHeard(at: found.head.time)
            guard let batch = plan(asked) else {
                try db.rollback()
                return nil
            }
            try batch.check(after: found.head)
            planned = batch
            let clients = try settledClients(of: batch, memory)
            try write(batch, clients, births: Set(reads.births.map(\.record)))
            try db.commit()
            memory.committed(batch, clients: clients)
            return batch
        } catch {
            leaveTransaction()
            // A commit that failed half-way may have happened: the nonce tells.
            guard let planned, try head() == planned.head else { throw error }
            return planned
        }
    }

    /// The settled clients as the batch leaves them.
    private func settledClients(of batch: CommittedBatch, _ memory: OrderMemory) throws -> [StoredClient] {
        let reads = StepReads(db: db, workspace: workspace)
        return try batch.settlements.map { settlement in
            let id = settlement.client.id
            guard let client = try memory.client(id) ?? reads.client(id) else {
                throw StoreError(.invariant, "only a registered client can be settled")
            }
            return try client.settled(by: settlement)
        }
    }

    func head() throws -> Head? {
        try Prepared(EmbeddedSQL.head, db).first({ $0.text(workspace.text) }, { $0.head() })
    }

    private func leaveTransaction() {
        places.forget()
        filing.forget()
        guard db.isInsideTransaction else { return }
        // It fails only when SQLite has rolled back by itself already, as it does after a full disk.
        try? db.rollback()
    }
}

extension Binding {
    mutating func key(_ workspace: WorkspaceID, _ key: RecordKey) {
        text(workspace.text)
        text(key.collection)
        id(key.id)
    }
}
