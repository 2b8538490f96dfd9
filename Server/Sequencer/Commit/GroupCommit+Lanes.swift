import Logging
import Synchronization
import TidemarkModel
import TidemarkStore

extension GroupCommit {
    typealias Batch = [LaneQueue<Ticket>.Element]

    /// One batch as the store took it.
    struct Written: Sendable {
        var batch: CommittedBatch?
        var isHeard = false
        var outcomes: [PushOutcome] = []
        /// What the batch had no room for, by the place in what was to be written.
        var left: [Int: Submission] = [:]
    }

    /// Commits a workspace's queue batch by batch until it is empty. While batches are being committed, the last one is
    /// told to sessions and submitters, and another is planned.
    func serve(_ workspace: WorkspaceID) async {
        var flights = Flights<Batch, Written>(aheadMin: limits.aheadTransactionsMin)
        let mailbox = LaneMailbox<Written>()
        await withDiscardingTaskGroup { group in
            while true {
                switch next(&flights, workspace, mailbox) {
                case .launch(let number, let batch, let isAhead):
                    let isPlanned = launch(number, batch, ahead: isAhead, workspace, mailbox, &group)
                    if isPlanned { flights.planned(number) }
                case .move(.relaunch(let number, let batch)):
                    let isPlanned = launch(number, batch, ahead: false, workspace, mailbox, &group)
                    if isPlanned { flights.planned(number) }
                case .move(.tell(let batch, let written)): tell(batch, written, workspace)
                case .move(.takeApart(let batch, let error)):
                    let outcomes = await settle(batch.map(\.submission), after: error, in: workspace)
                    for (element, outcome) in zip(batch, outcomes) { element.ticket.answer(outcome) }
                case .move(.rest): return
                case .move(.launchNext), .move(.wait):
                    guard case .ended(let number, let result) = await mailbox.next() else { continue }
                    putBack(result, of: flights.load(of: number), workspace)
                    flights.ended(number, result)
                }
            }
        }
    }

    /// Starts an attempt, which runs here up to where it waits for the store. True when its batch was planned by then, from
    /// what the node remembers.
    private func launch(
        _ number: Int, _ batch: Batch, ahead: Bool, _ workspace: WorkspaceID, _ mailbox: LaneMailbox<Written>,
        _ group: inout DiscardingTaskGroup
    ) -> Bool {
        let submissions = batch.map(\.submission)
        let planned = Planned()
        group.addImmediateTask {
            mailbox.put(.ended(number, await self.attempt(submissions, ahead: ahead, planned, in: workspace)))
        }
        return planned.last.withLock { $0.batch != nil && $0.left.isEmpty }
    }

    /// What a batch had no room for goes back into the queue, before what follows it there: nothing was planned ahead of
    /// such a batch. Who waits for it hears of all parts together.
    private func putBack(_ result: Result<Written, StoreError>, of batch: Batch?, _ workspace: WorkspaceID) {
        guard case .success(let written) = result, !written.left.isEmpty, let batch else { return }
        let left = batch.indices.compactMap { index -> LaneQueue<Ticket>.Element? in
            guard let rest = written.left[index] else { return nil }
            let (ticket, outcome) = (batch[index].ticket, written.outcomes[index])
            return (rest, Ticket { ticket.answer(outcome.followed(by: $0)) })
        }
        let cut = batch.indices.first { index in
            written.left[index].map { $0.first != batch[index].submission.first } ?? false
        }
        state.withLock { $0.lanes[workspace]?.queue.putBack(left, cut: cut.map { batch[$0].submission.client }) }
    }

    private enum Turn: Sendable {
        case launch(Int, Batch, isAhead: Bool)
        case move(Flights<Batch, Written>.Move)
    }

    /// The lane's next move; a batch to launch is taken with it, and a lane at rest is closed with it, so that the next
    /// submission opens another.
    private func next(
        _ flights: inout Flights<Batch, Written>, _ workspace: WorkspaceID, _ mailbox: LaneMailbox<Written>
    ) -> Turn {
        state.withLock { state -> Turn in
            let move = flights.next(waiting: state.lanes[workspace]?.queue.waiting ?? 0)
            switch move {
            case .launchNext(let isAhead):
                guard let batch = state.lanes[workspace]?.queue.take() else { return .move(.rest) }
                return .launch(flights.launched(batch, isAhead: isAhead), batch, isAhead: isAhead)
            case .wait(isOpen: true): state.lanes[workspace]?.wake = { mailbox.put(.filled) }
            case .wait(isOpen: false): state.lanes[workspace]?.wake = nil
            case .rest:
                state.lanes[workspace] = nil
                if state.isClosed, state.lanes.isEmpty { waking.finish() }
            case .relaunch, .tell, .takeApart: break
            }
            return .move(move)
        }
    }

    /// Delivers a batch, then answers its submitters: what they hear next is behind it.
    private func tell(_ batch: Batch, _ written: Written, _ workspace: WorkspaceID) {
        publish(written, workspace)
        for (index, element) in batch.enumerated() where written.left[index] == nil {
            element.ticket.answer(written.outcomes[index])
        }
    }

    private func publish(_ written: Written, _ workspace: WorkspaceID) {
        if let batch = written.batch { publish(self, workspace, batch, written.isHeard) }
    }

    private func attempt(
        _ submissions: [Submission], ahead: Bool, _ planned: Planned, in workspace: WorkspaceID
    ) async -> Result<Written, StoreError> {
        do throws(StoreError) {
            return .success(try await write(submissions, ahead: ahead, refusing: false, planned, in: workspace))
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
                let written = try await write(
                    piece.submissions, ahead: false, refusing: piece.refuses, Planned(), in: workspace)
                publish(written, workspace)
                bisection.committed(piece, written.outcomes, left: written.left)
                failures = 0
            } catch {
                switch error.kind {
                case .timeout where bisection.tookTooLong(piece): failures = 0
                case .unavailable, .overtaken, .timeout:
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
        _ submissions: [Submission], ahead: Bool, refusing: Bool, _ planned: Planned, in workspace: WorkspaceID
    ) async throws(StoreError) -> Written {
        let (sequencer, environment) = (sequencer, environment)
        let now = environment.now()
        let reads = sequencer.reads(for: submissions)
        let batch: CommittedBatch?
        do throws(StoreError) {
            batch = try await store.sequence(workspace, reading: reads, ahead: ahead) { reads in
                // Another nonce for another plan: what was planned on top of the first must not stand on the second.
                let plan = sequencer.plan(
                    submissions, reads: reads, now: now, nonce: environment.nonce(), refusing: refusing)
                let written = Written(
                    batch: plan.batch, isHeard: reads.hasListeners, outcomes: plan.outcomes, left: plan.left)
                planned.last.withLock { $0 = written }
                return plan.batch
            }
        } catch {
            note(health.withLock { $0.failed(error, now: now) }, workspace)
            throw error
        }
        if batch != nil { note(health.withLock { $0.succeeded() }, workspace) }
        var written = planned.last.withLock { $0 }
        written.batch = batch
        return written
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
    let last = Mutex(GroupCommit.Written())
}
