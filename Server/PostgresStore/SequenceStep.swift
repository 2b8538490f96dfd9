import TidemarkModel
import TidemarkPostgres
import TidemarkStore

/// One step of a workspace's order: two round trips, the first under the lock that the second gives back.
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

    /// When this returns without a batch or throws, the lease's end rolls the transaction back.
    func run(_ reads: ReadSet, plan: (ReadResult) -> CommittedBatch?) async throws -> CommittedBatch? {
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
        answer.found.hasListeners = isHeard(answer.heard, at: answer.found.head.time)
        guard let batch = plan(answer.found) else { return nil }
        try batch.check(after: answer.found.head)
        let stored = try await storedClients(of: batch, asked: reads, found: answer.found)
        let write = try BatchWrite(
            batch: batch, workspace: workspace,
            absent: Set(reads.records).subtracting(answer.found.records.keys), stored: stored, limits: limits,
            isHeard: isHeard(answer.heard, at: batch.head.time))
        do {
            _ = try await connection.run(write.statements + [Transactions.commit])
        } catch let error as PostgresError where error.provesRollback {
            throw error
        } catch {
            throw OutcomeUnknown(batch: batch, cause: error)
        }
        return batch
    }

    private func isHeard(_ heard: Milliseconds?, at time: Milliseconds) -> Bool {
        guard let heard else { return false }
        let (lapse, overflows) = heard.addingReportingOverflow(limits.followLifetime)
        return overflows || lapse > time
    }

    /// The rows of the clients to settle. A planner that settles only clients that it asked for costs nothing here.
    private func storedClients(
        of batch: CommittedBatch, asked: ReadSet, found: ReadResult
    ) async throws -> [ClientID: ClientRow] {
        let missing = Set(batch.settlements.map(\.client.id)).subtracting(asked.clients.map(\.client))
        guard !missing.isEmpty else { return found.clients }
        let questions = missing.map { client in Statement(ReadingSQL.client, workspace) { $0.add(client) } }
        var stored = found.clients
        for result in try await connection.run(questions) {
            if let client = try result.first({ try $0.client() }) { stored[client.id] = client }
        }
        return stored
    }
}
