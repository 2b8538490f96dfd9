import Logging
import Synchronization
import TidemarkModel
import TidemarkStore

extension GroupCommit {
    /// Commits a workspace's queue batch by batch until it is empty.
    func serve(_ workspace: WorkspaceID) async {
        while let batch = takeBatch(workspace) {
            let outcomes = await commit(batch.map(\.submission), in: workspace)
            for (element, outcome) in zip(batch, outcomes) { element.ticket(outcome) }
        }
    }

    /// The next batch; `nil` closes the lane, so that the next submission opens it again.
    private func takeBatch(_ workspace: WorkspaceID) -> [LaneQueue<Completion>.Element]? {
        state.withLock { state in
            guard let batch = state.lanes[workspace]?.queue.take(), !batch.isEmpty else {
                state.lanes[workspace] = nil
                if state.isClosed, state.lanes.isEmpty { waking.finish() }
                return nil
            }
            return batch
        }
    }

    /// Commits a group of submissions, in several batches if the store refuses one, and returns an outcome for each.
    private func commit(_ submissions: [Submission], in workspace: WorkspaceID) async -> [PushOutcome] {
        var bisection = Bisection(submissions)
        var failures = 0
        while let piece = bisection.next() {
            do throws(StoreError) {
                bisection.committed(piece, try await write(piece, in: workspace))
                failures = 0
            } catch {
                switch error.kind {
                case .unavailable:
                    failures += 1
                    guard failures < limits.attemptsMax, await pause(afterFailures: failures) else {
                        environment.logger.error(
                            "Gave up on a batch: the store is not available",
                            metadata: ["workspace": "\(workspace)", "error": "\(error)", "tries": "\(failures)"])
                        bisection.abandon(piece)
                        break
                    }
                    bisection.postponed(piece)
                case .data, .invariant:
                    report(error, bisection.refused(piece), piece, in: workspace)
                }
            }
        }
        return bisection.outcomes
    }

    private func write(_ piece: Bisection.Piece, in workspace: WorkspaceID) async throws(StoreError) -> [PushOutcome] {
        let submissions = piece.submissions
        let planned = PlannedOutcomes()
        let (sequencer, refuses) = (sequencer, piece.refuses)
        let (now, nonce) = (environment.now(), environment.nonce())
        let batch = try await store.sequence(workspace, reading: sequencer.reads(for: submissions)) { reads in
            let plan = sequencer.plan(submissions, reads: reads, now: now, nonce: nonce, refusing: refuses)
            planned.outcomes.withLock { $0 = plan.outcomes }
            return plan.batch
        }
        if let batch { publish(workspace, batch) }
        return planned.outcomes.withLock { $0 }
    }

    /// False when there is no sense in another try: the service stops.
    private func pause(afterFailures failures: Int) async -> Bool {
        guard !state.withLock({ $0.isClosed }) else { return false }
        do {
            try await environment.clock.sleep(for: timing.wait(afterFailures: failures))
            return true
        } catch {
            return false
        }
    }

    private func report(
        _ error: StoreError, _ remedy: Bisection.Remedy, _ piece: Bisection.Piece, in workspace: WorkspaceID
    ) {
        let metadata: Logger.Metadata = [
            "workspace": "\(workspace)", "error": "\(error)", "submissions": "\(piece.submissions.count)",
            "client": "\(piece.submissions.first.map { "\($0.client)" } ?? "")",
            "number": "\(piece.submissions.first?.first ?? 0)",
        ]
        switch remedy {
        case .halve, .singleOut, .repeatOnce:
            environment.logger.warning("The store refused a batch: looking for what is wrong in it", metadata: metadata)
        case .refuse:
            environment.logger.error("Refusing a transaction that the store cannot take", metadata: metadata)
        case .giveUp:
            environment.logger.critical("The store cannot even take the refusal of a transaction", metadata: metadata)
        }
    }
}

/// The outcomes of the last run of a plan: the store may run it again after a failure, and the last run is what it commits.
private final class PlannedOutcomes: Sendable {
    let outcomes = Mutex<[PushOutcome]>([])
}
