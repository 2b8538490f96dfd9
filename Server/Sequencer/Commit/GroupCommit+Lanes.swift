import Logging
import Synchronization
import TidemarkModel
import TidemarkStore

extension GroupCommit {
    /// What is on disk and not yet told to anyone.
    private struct Told: Sendable {
        var batch: [LaneQueue<Completion>.Element]
        var written: Written
    }

    /// One batch as the store took it.
    private struct Written: Sendable {
        var batch: CommittedBatch?
        var isHeard = false
        var outcomes: [PushOutcome] = []
    }

    /// Commits a workspace's queue batch by batch until it is empty. While one batch is being committed, the last one is
    /// told to sessions and submitters.
    func serve(_ workspace: WorkspaceID) async {
        var untold: Told?
        while true {
            // Closing the lane lets another one open, so there must be nothing left to tell.
            guard let batch = takeBatch(workspace, closes: untold == nil) else {
                guard let last = untold else { return }
                tell(last, workspace)
                untold = nil
                continue
            }
            let submissions = batch.map(\.submission)
            let earlier = untold
            async let told: Void = tell(earlier, workspace)
            let attempt = await attempt(submissions, in: workspace)
            await told
            switch attempt {
            case .success(let written):
                untold = Told(batch: batch, written: written)
            case .failure(let error):
                untold = nil
                let outcomes = await settle(submissions, after: error, in: workspace)
                for (element, outcome) in zip(batch, outcomes) { element.ticket(outcome) }
            }
        }
    }

    /// The next batch; without one the lane is closed, if it may be, so that the next submission opens it again.
    private func takeBatch(_ workspace: WorkspaceID, closes: Bool) -> [LaneQueue<Completion>.Element]? {
        state.withLock { state in
            guard let batch = state.lanes[workspace]?.queue.take(), !batch.isEmpty else {
                guard closes else { return nil }
                state.lanes[workspace] = nil
                if state.isClosed, state.lanes.isEmpty { waking.finish() }
                return nil
            }
            return batch
        }
    }

    /// Delivers a batch, then answers its submitters: what they hear next is behind it.
    private func tell(_ told: Told?, _ workspace: WorkspaceID) {
        guard let told else { return }
        publish(told.written, workspace)
        for (element, outcome) in zip(told.batch, told.written.outcomes) { element.ticket(outcome) }
    }

    private func publish(_ written: Written, _ workspace: WorkspaceID) {
        if let batch = written.batch { publish(workspace, batch, written.isHeard) }
    }

    private func attempt(
        _ submissions: [Submission], in workspace: WorkspaceID
    ) async -> Result<Written, StoreError> {
        do throws(StoreError) {
            return .success(try await write(submissions, refusing: false, in: workspace))
        } catch {
            return .failure(error)
        }
    }

    /// Commits a group that the store refused or could not take as a whole, in several batches if need be, and returns
    /// an outcome for each submission.
    private func settle(
        _ submissions: [Submission], after error: StoreError, in workspace: WorkspaceID
    ) async -> [PushOutcome] {
        var bisection = Bisection(submissions)
        var failures = 0
        var pending: StoreError? = error
        while let piece = bisection.next() {
            do throws(StoreError) {
                if let error = pending {
                    pending = nil
                    throw error
                }
                let written = try await write(piece.submissions, refusing: piece.refuses, in: workspace)
                publish(written, workspace)
                bisection.committed(piece, written.outcomes)
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

    private func write(
        _ submissions: [Submission], refusing: Bool, in workspace: WorkspaceID
    ) async throws(StoreError) -> Written {
        let planned = Planned()
        let sequencer = sequencer
        let (now, nonce) = (environment.now(), environment.nonce())
        let batch = try await store.sequence(workspace, reading: sequencer.reads(for: submissions)) { reads in
            let plan = sequencer.plan(submissions, reads: reads, now: now, nonce: nonce, refusing: refusing)
            planned.last.withLock { $0 = (plan.outcomes, reads.hasListeners) }
            return plan.batch
        }
        let (outcomes, isHeard) = planned.last.withLock { $0 }
        return Written(batch: batch, isHeard: isHeard, outcomes: outcomes)
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

/// The last run of a plan: the store may run it again after a failure, and the last run is what it commits.
private final class Planned: Sendable {
    let last = Mutex<(outcomes: [PushOutcome], isHeard: Bool)>(([], false))
}
