package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// See `Store.raiseEpoch`: two round trips under the workspace's lock.
    ///
    /// Throws if the answer to COMMIT is lost. A repeated call then finds the epoch that has begun.
    package func raiseEpoch(
        _ raise: EpochRaise, in workspace: WorkspaceID
    ) async throws(StoreError) -> EpochOutcome {
        let begin = transactions.beginWrite
        let questions =
            begin + [
                Statement(SequencingSQL.makeWorkspace, workspace),
                SequencingSQL.lock(workspace, generation: generation), Statement(ReadingSQL.head, workspace),
                Statement(ReadingSQL.batchHolding, workspace) { $0.add(raise.lookup ?? 0) },
                Statement(CompactionSQL.horizon, workspace),
            ]
        // An open transaction is rolled back when the connection is returned.
        return try await on(reading) { connection in
            let all = try await connection.run(questions)
            guard all[begin.count + 1].rowCount == 1 else { throw StoreError.erasedWorkspace }
            let answers = Array(all.dropFirst(begin.count + 2))
            let head = try answers[0].first { try $0.head() } ?? .start
            let found = raise.lookup == nil ? nil : try answers[1].first { try $0.head() }
            let horizon = try answers[2].first { try $0.integer() } ?? 0
            guard let step = raise.step(at: head, holding: found, horizon: horizon) else { return .stands(head) }
            _ = try await connection.run(Self.statements(of: step, in: workspace) + [Transactions.commit])
            return .raised(step.start, step.batch.head)
        }
    }

    private static func statements(of step: EpochStep, in workspace: WorkspaceID) -> [Statement] {
        let (start, head) = (step.start, step.batch.head)
        return [
            Statement(LineageSQL.insertBatch, workspace) {
                $0.add(head.seq)
                $0.add(Int64(bitPattern: head.nonce))
                $0.add(head.time)
                $0.add(head.epoch)
                $0.add(utf8: BatchBody.encode(step.batch))
            },
            Statement(LineageSQL.insert, workspace) {
                $0.add(start.epoch)
                $0.add(start.first)
                $0.add(Int64(bitPattern: start.baseNonce))
                $0.add(start.time)
                $0.add(text: start.reason.rawValue)
                $0.add(start.lost)
            },
        ]
    }

    /// See `Store.lineage`.
    package func lineage(of workspace: WorkspaceID) async throws(StoreError) -> [EpochStart] {
        let list = Statement(LineageSQL.list, workspace) { $0.add(Int64(options.limits.lineageListedMax)) }
        return try await read([list])[0].all {
            EpochStart(
                epoch: try $0.integer(), first: try $0.integer(), baseNonce: UInt64(bitPattern: try $0.integer()),
                time: try $0.integer(), reason: EpochReason(stored: try $0.text()), lost: try $0.integer())
        }
    }
}
