import TidemarkModel
import TidemarkPostgres
import TidemarkStore

/// One step of a workspace's order, under the lock of its row: one round trip when the node remembers everything that
/// the plan needs, else two, of which the second gives the lock back.
struct SequenceStep {
    let connection: PostgresConnection
    let transactions: Transactions
    let workspace: WorkspaceID
    let node: UInt64
    let limits: StoreLimits

    /// COMMIT was sent and not answered as expected: whether the batch was written must be looked up.
    struct OutcomeUnknown: Error {
        let batch: CommittedBatch
        let cause: any Error
    }

    /// Commits a batch that was planned from memory, if the database still stands where the memory did.
    ///
    /// - Returns: false when nothing was written and the plan must see what is stored. What is refused here is not
    ///   looked into: the memory may be wrong, a record may be there already. The lease's end then rolls back.
    func commit(_ guess: Guess) async throws -> Bool {
        let write = BatchWrite(
            batch: guess.batch, workspace: workspace,
            from: .remembered(head: guess.ground, heard: guess.heard, node: node), clients: guess.clients,
            limits: limits, isHeard: limits.isHeard(guess.heard, at: guess.batch.head.time))
        let begin = transactions.beginWrite
        let lock = Statement(SequencingSQL.lock, workspace)
        do {
            let results = try await connection.run(begin + [lock] + write.statements + [Transactions.commit])
            // In a database that is older than the workspace every statement finds nothing to do, and nothing fails.
            return results[begin.count].rowCount == 1
        } catch let error as PostgresError where error.isGuard || error.isData || error.isBehindFailure {
            return false
        } catch let error as PostgresError where error.provesRollback {
            throw error
        } catch {
            throw OutcomeUnknown(batch: guess.batch, cause: error)
        }
    }

    /// Reads under the lock, plans and commits. When this returns without a batch or throws, the lease's end rolls the
    /// transaction back.
    func look(
        _ reads: ReadSet, _ memory: inout OrderMemory, plan: (ReadResult) -> CommittedBatch?
    ) async throws -> CommittedBatch? {
        let questions = SequenceReads(workspace: workspace, node: node, reads: reads)
        let begin = transactions.beginWrite
        var answer = try questions.answer(try await connection.run(begin + questions.statements)[begin.count...])
        if !answer.isLocked {
            // A workspace without a row cannot be locked: once in its life, make it and ask again. Another node that
            // makes it at the same time is waited for.
            let make = Statement(SequencingSQL.makeWorkspace, workspace)
            answer = try questions.answer(try await connection.run([make] + questions.statements)[1...])
            guard answer.isLocked else { throw StoreError(.unavailable, "a workspace that was made is not there") }
        }
        memory.found(
            at: answer.found.head, heard: answer.heard, clients: answer.clients.values, grants: answer.found.grants)
        answer.found.hasListeners = limits.isHeard(answer.heard, at: answer.found.head.time)
        guard let batch = plan(answer.found) else { return nil }
        try batch.check(after: answer.found.head)
        var stored = answer.clients
        let missing = batch.settlements.map(\.client.id).filter { stored[$0] == nil }
        for client in try await lookUp(missing) { stored[client.row.id] = client }
        let settled = try Self.settled(by: batch, stored)
        let write = BatchWrite(
            batch: batch, workspace: workspace,
            from: .read(absent: Set(questions.reads.records).subtracting(answer.found.records.keys)),
            clients: settled, limits: limits, isHeard: limits.isHeard(answer.heard, at: batch.head.time))
        do {
            _ = try await connection.run(write.statements + [Transactions.commit])
        } catch let error as PostgresError where error.provesRollback {
            throw error
        } catch {
            throw OutcomeUnknown(batch: batch, cause: error)
        }
        memory.committed(batch, clients: settled)
        return batch
    }

    /// Clients that the batch settles and the step did not ask for. A planner that settles only those that it asked for
    /// costs nothing here.
    private func lookUp(_ missing: [ClientID]) async throws -> [StoredClient] {
        guard !missing.isEmpty else { return [] }
        let questions = missing.map { client in Statement(ReadingSQL.client, workspace) { $0.add(client) } }
        var found: [StoredClient] = []
        for result in try await connection.run(questions) {
            if let client = try result.first({ try $0.storedClient() }) { found.append(client) }
        }
        return found
    }

    /// The settled clients as the batch leaves them.
    private static func settled(
        by batch: CommittedBatch, _ stored: [ClientID: StoredClient]
    ) throws(StoreError) -> [StoredClient] {
        var settled: [StoredClient] = []
        settled.reserveCapacity(batch.settlements.count)
        for settlement in batch.settlements {
            guard let client = stored[settlement.client.id] else {
                throw StoreError(.invariant, "only a registered client can be settled")
            }
            settled.append(try client.settled(by: settlement))
        }
        return settled
    }
}

extension StoreLimits {
    /// Whether a node that was last heard at `heard` still listens at `time`.
    func isHeard(_ heard: Milliseconds?, at time: Milliseconds) -> Bool {
        guard let heard else { return false }
        let (lapse, overflows) = heard.addingReportingOverflow(followLifetime)
        return overflows || lapse > time
    }
}
