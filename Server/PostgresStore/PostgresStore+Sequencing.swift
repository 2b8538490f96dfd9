import Logging
package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// See `Store.sequence`: one round trip while this node alone writes the workspace and records are only created;
    /// else two, and one more for the first batch of a workspace.
    ///
    /// Cancelling the task while COMMIT is under way leaves the outcome unknown: kind `unavailable`.
    package func sequence(
        _ workspace: WorkspaceID, reading reads: ReadSet, plan: @escaping @Sendable (ReadResult) -> CommittedBatch?
    ) async throws(StoreError) -> CommittedBatch? {
        do {
            var memory = memories.take(workspace)
            let batch = try await step(workspace, reads, &memory, plan)
            memories.put(memory, workspace)
            return batch
        } catch let unknown as SequenceStep.OutcomeUnknown {
            logger.info(
                "looking for a batch whose commit was not answered",
                metadata: ["workspace": "\(workspace)", "error": "\(unknown.cause)"])
            guard try await isWritten(unknown.batch.head, in: workspace) else {
                throw StoreError(postgres: unknown.cause)
            }
            return unknown.batch
        } catch {
            throw StoreError(postgres: error)
        }
    }

    private func step(
        _ workspace: WorkspaceID, _ reads: ReadSet, _ memory: inout OrderMemory,
        _ plan: (ReadResult) -> CommittedBatch?
    ) async throws -> CommittedBatch? {
        if let found = memory.answer(reads) {
            let batch = try await onStep(workspace) { try await $0.guess(found, &memory, plan: plan) }
            if let batch { return batch }
        }
        return try await onStep(workspace) { try await $0.look(reads, &memory, plan: plan) }
    }

    private func onStep<Value>(
        _ workspace: WorkspaceID, _ body: (SequenceStep) async throws -> Value
    ) async throws -> Value {
        try await sequencing.withConnection { connection in
            try await body(
                SequenceStep(
                    connection: connection, transactions: transactions, workspace: workspace, node: node,
                    limits: options.limits))
        }
    }

    /// Whether the batch was committed, once its transaction has ended either way: the lock is waited for.
    ///
    /// - Throws: kind `unavailable` when that is not known in time. The clients' numbers then recognise the
    ///   transactions when they are tried again.
    private func isWritten(_ head: Head, in workspace: WorkspaceID) async throws(StoreError) -> Bool {
        let deadline = ContinuousClock.now + options.outcomeTimeout
        let statements =
            transactions.beginWrite + [
                Statement(SequencingSQL.lock, workspace),
                Statement(SequencingSQL.batchNonce, workspace) { $0.add(head.seq) }, Transactions.commit,
            ]
        // Each connection that was open may have been lost with the server: one try for each, and a few on new ones.
        var attempts = options.sequencingConnections + Self.lookupsMax
        while true {
            do {
                let results = try await sequencing.withConnection { try await $0.run(statements) }
                let nonce = try results.dropLast().last?.first { UInt64(bitPattern: try $0.integer()) }
                return nonce == head.nonce
            } catch {
                attempts -= 1
                guard attempts > 0, ContinuousClock.now < deadline, !(error is CancellationError) else {
                    throw StoreError(.unavailable, "whether a batch was committed is not known: \(error)")
                }
            }
        }
    }

    private static let lookupsMax = 8
}
