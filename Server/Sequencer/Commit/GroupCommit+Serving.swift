import Logging
import TidemarkModel
import TidemarkStore

extension GroupCommit {
    /// Carries out what the workspace's machine wants, until the lane is closed and nothing is left.
    func serve(_ lane: Lane) async {
        var machine = LaneMachine<Lane.Ticket>(sequencer: sequencer, limits: limits)
        await withDiscardingTaskGroup { group in
            while true {
                switch machine.next(waiting: lane.waiting, now: environment.now(), nonce: environment.nonce) {
                case .take(let isAhead): machine.take(lane.take(), isAhead: isAhead)
                case .putBack(let elements, let cut): lane.putBack(elements, cut: cut)
                case .read(let number, let reads):
                    group.addImmediateTask { lane.report(.read(number, await self.read(reads, in: lane.workspace))) }
                case .commit(let number, let planned):
                    // It runs here up to where it waits for the store: commits get there in their order.
                    group.addImmediateTask {
                        lane.report(.committed(number, await self.commit(planned, in: lane.workspace)))
                    }
                case .end(let turn): await turn.end()
                case .deliver(let batch, let isHeard, let answers):
                    if let batch { publish(self, lane.workspace, batch, isHeard) }
                    environment.observer.answered(answers.map(\.1), batch != nil)
                    for (ticket, outcome) in answers { ticket.answer(outcome) }
                case .pause(let failures):
                    machine.resumed(goesOn: await pause(afterFailures: failures, of: lane))
                case .note(let note): log(note, lane.workspace)
                case .wait(let isOpen):
                    switch await lane.next(orAt: isOpen ? limits.aheadTransactionsMin : nil) {
                    case .read(let number, let result): machine.read(number, result)
                    case .committed(let number, let result): machine.committed(number, result)
                    case .filled, .closed: break
                    }
                case .rest: guard await lane.rest() else { return }
                }
            }
        }
    }

    private func read(_ reads: ReadSet, in workspace: WorkspaceID) async -> Result<Reading, StoreError> {
        do throws(StoreError) {
            return .success(try await store.read(reads, in: workspace))
        } catch {
            failed(error, workspace)
            return .failure(error)
        }
    }

    private func commit(_ planned: PlannedBatch, in workspace: WorkspaceID) async -> Result<Commitment, StoreError> {
        let (result, took) = await environment.clock.timed { () async -> Result<Commitment, StoreError> in
            do throws(StoreError) {
                return .success(try await store.commit(planned, in: workspace))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(.written):
            succeeded()
            environment.observer.written(took)
        case .success: break
        case .failure(let error): failed(error, workspace)
        }
        return result
    }

    /// False when there is no sense in another try: the service stops.
    private func pause(afterFailures failures: Int, of lane: Lane) async -> Bool {
        guard !lane.isClosed else { return false }
        do {
            try await environment.clock.sleep(for: timing.wait(afterFailures: failures))
            return true
        } catch {
            return false
        }
    }

    private func log(_ note: LaneNote, _ workspace: WorkspaceID) {
        switch note {
        case .gaveUp(let error, let tries):
            environment.logger.error(
                "Gave up on a batch: the store is not available",
                metadata: ["workspace": "\(workspace)", "error": "\(error)", "tries": "\(tries)"])
        case .refused(let error, let remedy, let submissions, let client, let number):
            let metadata: Logger.Metadata = [
                "workspace": "\(workspace)", "error": "\(error)", "submissions": "\(submissions)",
                "client": "\(client.map { "\($0)" } ?? "")", "number": "\(number)",
            ]
            switch remedy {
            case .halve, .singleOut, .repeatOnce:
                environment.logger.warning(
                    "The store refused a batch: looking for what is wrong in it", metadata: metadata)
            case .refuse:
                environment.logger.error("Refusing a transaction that the store cannot take", metadata: metadata)
            case .giveUp:
                environment.logger.critical(
                    "The store cannot even take the refusal of a transaction", metadata: metadata)
            }
        }
    }
}
