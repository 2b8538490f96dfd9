import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import TidemarkSequencer

extension ServerNode {
    /// Receives a push over HTTP; `answer` gets each submission's outcome unless the node dies first.
    func received(_ call: PushCall, from user: UserID, answer: @escaping (PushOutcome) -> Void) {
        let principal = Principal(user: user)
        let entries = call.push.entries.map { context.admission.admit($0, from: principal) }
        let submission = Submission(
            client: call.client, principal: principal, connection: call.connection,
            ackedThrough: call.push.ackedThrough, first: call.push.first, entries: entries, bytes: 100 * entries.count)
        lastCall += 1
        guard lane.append(submission, ticket: LaneTicket(.call(lastCall), submission)) else {
            return answer(.overloaded)
        }
        calls[lastCall] = answer
        sequence()
    }

    /// Carries out the effects of the lane's machine, up to the next wait.
    func sequence() {
        // A delivery makes sessions submit: the delivering loop sequences these after the whole delivery.
        guard !isSequencing else { return }
        isSequencing = true
        defer { isSequencing = false }
        while isUp, !isPausing {
            let action = machine.next(waiting: lane.waiting, now: clock) { random.next() }
            switch action {
            case .take(let isAhead): machine.take(lane.take(), isAhead: isAhead)
            case .putBack(let elements, let cut): lane.putBack(elements, cut: cut)
            case .read(let number, let reads):
                world.database.read(reads, lease) { [self] result in report { $0.read(number, result) } }
            case .end(let turn): (turn as? ModelDatabase.ModelTurn)?.giveBack()
            case .commit(let number, let planned): commit(number, planned)
            case .deliver(let batch, _, let answers): deliver(batch, answers)
            case .pause:
                isPausing = true
                let lease = lease
                world.after(random.within(10...300)) {
                    guard lease.isHeld else { return }
                    self.isPausing = false
                    self.machine.resumed(goesOn: true)
                    self.sequence()
                }
            case .note(.refused(let error, _, _, _, _)) where error.kind == .invariant:
                world.broke(.tiling, error.description)
            case .note: break
            case .wait, .rest: return
            }
        }
    }

    private func commit(_ number: Int, _ planned: PlannedBatch) {
        let (submissions, refuses) = machine.content(of: number)
        world.database.commit(
            ModelDatabase.Commit(
                lease: lease, planned: planned, steps: SubmittedStep.steps(of: submissions, refusing: refuses)
            ) { [self] result in
                if perhapsCrash() { return }
                report { $0.committed(number, result) }
            })
    }

    private func report(_ report: (inout LaneMachine<LaneTicket>) -> Void) {
        report(&machine)
        sequence()
    }

    private func deliver(_ batch: CommittedBatch?, _ answers: [(ticket: LaneTicket, outcome: PushOutcome)]) {
        // Sessions may learn the outcome before or after the rows reach them.
        let settlesFirst = random.chance(500)
        if settlesFirst { for (ticket, outcome) in answers { settle(ticket, outcome) } }
        if isUp, let batch { delivered(batch) }
        if isUp, !settlesFirst { for (ticket, outcome) in answers { settle(ticket, outcome) } }
    }

    private func settle(_ ticket: LaneTicket, _ outcome: PushOutcome) {
        if case .forked = outcome, !world.files.areUsed {
            world.broke(.exactlyOnce, "a delayed duplicate of \(ticket.client) was taken for a fork")
        }
        switch ticket.to {
        case .session(let id): advance(.settled(id, outcome, pushEnd: ticket.pushEnd))
        case .call(let call): calls.removeValue(forKey: call)?(outcome)
        }
    }
}
