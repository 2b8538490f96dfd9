import Logging
package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// See `Store.sequence`: one round trip while this node alone writes the workspace and records are only created;
    /// else two, and one more for the first batch of a workspace.
    ///
    /// A step ahead goes out right behind the one before, on the same connection; if that is not possible, on one of its
    /// own, where it waits for the workspace's lock. Cancelling the task while COMMIT is under way leaves the outcome
    /// unknown: kind `unavailable`.
    package func sequence(
        _ workspace: WorkspaceID, reading reads: ReadSet, ahead: Bool,
        plan: @escaping @Sendable (ReadResult) -> CommittedBatch?
    ) async throws(StoreError) -> CommittedBatch? {
        guard !ahead || hasRoomAhead(workspace) else { throw .overtaken }
        do {
            if let guess = try guess(workspace, reads, plan) {
                if try await commit(guess, in: workspace, ahead: ahead) { return guess.batch }
            }
            guard !ahead else { throw StoreError.overtaken }
            var loan = memories.take(workspace)
            let batch = try await onStep(workspace) { try await $0.look(reads, &loan.memory, plan: plan) }
            memories.put(loan, workspace)
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

    private func guess(
        _ workspace: WorkspaceID, _ reads: ReadSet, _ plan: (ReadResult) -> CommittedBatch?
    ) throws(StoreError) -> Guess? {
        var loan = memories.take(workspace)
        let isHeard = options.limits.isHeard(loan.memory.heard, at: loan.memory.head?.time ?? 0)
        let guess = try loan.memory.guess(reads, hasListeners: isHeard, plan: plan)
        memories.put(loan, workspace)
        return guess
    }

    /// False when the database says otherwise than the node remembers: nothing was written.
    private func commit(_ guess: Guess, in workspace: WorkspaceID, ahead: Bool) async throws -> Bool {
        do {
            if try await onGuess(workspace, ahead: ahead, { try await $0.commit(guess) }) { return true }
        } catch {
            memories.forget(workspace)
            throw error
        }
        // Ahead, it may be no more than that the step before found the memory wrong, or came later to the lock.
        memories.forget(workspace, doubting: !ahead)
        return false
    }

    /// One that waits for the lock keeps its connection from other workspaces: only what is idle.
    private func hasRoomAhead(_ workspace: WorkspaceID) -> Bool {
        stepping[workspace]?.canBeJoined == true || sequencing.snapshot.idle > 0
    }

    /// Behind the step before, or on a connection of its own that others may follow on.
    private func onGuess<Value>(
        _ workspace: WorkspaceID, ahead: Bool, _ body: (SequenceStep) async throws -> Value
    ) async throws -> Value {
        defer { stepping.tidy(workspace) }
        if ahead, let connection = stepping[workspace] {
            let value = try await sequencing.withConnection(joining: connection) {
                try await body(step(workspace, on: $0))
            }
            if let value { return value }
        }
        return try await onStep(workspace) { step in
            stepping[workspace] = step.connection
            return try await body(step)
        }
    }

    private func onStep<Value>(
        _ workspace: WorkspaceID, _ body: (SequenceStep) async throws -> Value
    ) async throws -> Value {
        try await sequencing.withConnection { try await body(step(workspace, on: $0)) }
    }

    private func step(_ workspace: WorkspaceID, on connection: PostgresConnection) -> SequenceStep {
        SequenceStep(
            connection: connection, transactions: transactions, workspace: workspace, node: node,
            limits: options.limits)
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
                    throw StoreError(
                        .unavailable, "whether a batch was committed is not known: \(error)",
                        fault: StoreError(postgres: error).fault)
                }
            }
        }
    }

    private static let lookupsMax = 8
}
