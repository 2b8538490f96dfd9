import Logging
import TidemarkLock
package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// See `Store.read`: one round trip, and one more for the first batch of a workspace. The turn holds one of the
    /// connections for sequencing.
    package func read(_ reads: ReadSet, in workspace: WorkspaceID) async throws(StoreError) -> Reading {
        do {
            let turn = PostgresTurn(try await sequencing.lease())
            do {
                let answer = try await lock(workspace, reads, on: turn.connection)
                return Reading(answer.state, heard: answer.heard, turn: turn)
            } catch {
                await turn.end()
                throw error
            }
        } catch {
            throw StoreError(postgres: error)
        }
    }

    private func lock(
        _ workspace: WorkspaceID, _ reads: ReadSet, on connection: PostgresConnection
    ) async throws -> SequenceReads.Answer {
        let questions = SequenceReads(workspace: workspace, node: node, generation: generation, reads: reads)
        let begin = transactions.beginWrite
        let answer = try questions.answer(try await connection.run(begin + questions.statements)[begin.count...])
        guard !answer.isLocked else { return answer }
        // A workspace without a row cannot be locked: once in its life it is made, and the lock is requested again. If
        // another node makes it at the same time, this waits for it.
        let make = Statement(SequencingSQL.makeWorkspace, workspace)
        let again = try questions.answer(try await connection.run([make] + questions.statements)[1...])
        guard again.isLocked else { throw StoreError.erasedWorkspace }
        return again
    }

    /// See `Store.commit`: one round trip. A batch ahead is sent right behind the one before, on the same connection.
    /// If that is not possible, it uses one of its own, where it waits for the workspace's lock.
    ///
    /// If the task is cancelled during COMMIT, the outcome is unknown: kind `unavailable`.
    package func commit(
        _ planned: PlannedBatch, in workspace: WorkspaceID
    ) async throws(StoreError) -> Commitment {
        let isHeard = options.limits.isHeard(planned.heard, at: planned.batch.head.time)
        let write = BatchWrite(
            planned, workspace: workspace, node: node, limits: options.limits,
            keepsBody: options.limits.keepsBody(isHeard: isHeard)
        ).statements
        do {
            if let turn = planned.turn as? PostgresTurn {
                let result = await outcome(of: write, on: turn.connection)
                await turn.end()
                try result.get()
                return .written(isHeard: isHeard)
            }
            guard !planned.isAhead || hasRoomAhead(workspace) else { return .moved }
            let isWritten = try await onConnection(workspace, isAhead: planned.isAhead) { connection in
                try await self.commit(write, of: workspace, on: connection)
            }
            return isWritten ? .written(isHeard: isHeard) : .moved
        } catch let unknown as OutcomeUnknown {
            logger.info(
                "looking for a batch whose commit was not answered",
                metadata: ["workspace": "\(workspace)", "error": "\(unknown.cause)"])
            guard try await self.isWritten(planned.batch.head, in: workspace) else {
                throw StoreError(postgres: unknown.cause)
            }
            return .written(isHeard: isHeard)
        } catch {
            throw StoreError(postgres: error)
        }
    }

    /// COMMIT was sent and not answered as expected: the store has to look whether the batch was written.
    private struct OutcomeUnknown: Error {
        let cause: any Error
    }

    /// Writes under a lock that the turn holds.
    private func outcome(
        of write: [Statement], on connection: PostgresConnection
    ) async -> Result<Void, any Error> {
        do {
            _ = try await connection.run(write + [Transactions.commit])
            return .success(())
        } catch let error as PostgresError where error.provesRollback {
            return .failure(error)
        } catch {
            return .failure(OutcomeUnknown(cause: error))
        }
    }

    /// Locks and writes a batch that was planned from memory.
    ///
    /// - Returns: false when nothing was written, and the plan has to read the stored state. The reason of a refusal is
    ///   not examined: the memory may be wrong, or a record may exist already. The lease's end then rolls back.
    private func commit(
        _ write: [Statement], of workspace: WorkspaceID, on connection: PostgresConnection
    ) async throws -> Bool {
        let begin = transactions.beginWrite
        let lock = SequencingSQL.lock(workspace, generation: generation)
        do {
            let results = try await connection.run(begin + [lock] + write + [Transactions.commit])
            // In a database that is older than the workspace every statement finds nothing to do, and none fails.
            return results[begin.count].rowCount == 1
        } catch let error as PostgresError
            where error.isGuard || error.isData || error.isErased || error.isBehindFailure
        {
            return false
        } catch let error as PostgresError where error.provesRollback {
            throw error
        } catch {
            throw OutcomeUnknown(cause: error)
        }
    }

    /// A batch that waits for the lock keeps its connection from other workspaces: it may only use an idle one.
    private func hasRoomAhead(_ workspace: WorkspaceID) -> Bool {
        stepping[workspace]?.canBeJoined == true || sequencing.snapshot.idle > 0
    }

    /// Runs `body` behind the batch before, or on a connection of its own that others may follow on.
    private func onConnection<Value>(
        _ workspace: WorkspaceID, isAhead: Bool, _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        defer { stepping.tidy(workspace) }
        if isAhead, let connection = stepping[workspace] {
            if let value = try await sequencing.withConnection(joining: connection, body) { return value }
        }
        return try await sequencing.withConnection { connection in
            stepping[workspace] = connection
            return try await body(connection)
        }
    }

    /// Whether the batch was committed, once its transaction has ended either way: this waits for the lock.
    ///
    /// - Throws: kind `unavailable` when that is not known in time. Repeated transactions are then recognised by the
    ///   clients' numbers.
    private func isWritten(_ head: Head, in workspace: WorkspaceID) async throws(StoreError) -> Bool {
        let deadline = ContinuousClock.now + options.outcomeTimeout
        let statements =
            transactions.beginWrite + [
                SequencingSQL.lock(workspace, generation: generation),
                Statement(SequencingSQL.batchNonce, workspace) { $0.add(head.seq) }, Transactions.commit,
            ]
        // Each open connection may have been lost with the server: one attempt for each, and a few on new ones.
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
                        .unavailable, "it is unknown whether a batch was committed: \(error)",
                        fault: StoreError(postgres: error).fault)
                }
            }
        }
    }

    private static let lookupsMax = 8
}

/// The lock of a workspace, which the transaction on this connection holds.
final class PostgresTurn: Turn {
    let connection: PostgresConnection
    private let isOver = Lock(false)

    init(_ connection: PostgresConnection) { self.connection = connection }

    func end() async {
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        if isFirst { await connection.leave() }
    }

    deinit {
        if !isOver.withLock({ $0 }) { connection.drop() }
    }
}
