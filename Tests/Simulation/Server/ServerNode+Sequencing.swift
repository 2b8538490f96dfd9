import TidemarkFanOut
import TidemarkModel
import TidemarkSession
import TidemarkStore
import TidemarkWire

@testable import TidemarkSequencer

extension ServerNode {
    typealias Element = LaneQueue<Ticket>.Element

    /// A batch as the database took it.
    struct Written {
        var batch: CommittedBatch?
        var outcomes: [PushOutcome]
        /// What it had no room for, by the place among those that were to be written.
        var left: [Int: Submission]
    }

    /// A push over HTTP; `answer` hears of each submission's outcome unless the node dies first.
    func received(_ call: PushCall, from user: UserID, answer: @escaping (PushOutcome) -> Void) {
        let principal = Principal(user: user)
        let entries = call.push.entries.map { context.admission.admit($0, from: principal) }
        let submission = Submission(
            client: call.client, principal: principal, connection: call.connection,
            ackedThrough: call.push.ackedThrough, first: call.push.first, entries: entries, bytes: 100 * entries.count)
        lastCall += 1
        guard lane.append(submission, ticket: .call(lastCall)) else { return answer(.overloaded) }
        calls[lastCall] = answer
        sequence()
    }

    /// Group commit: while batches are on their way, the next one gathers.
    func sequence() {
        guard !isTakingApart else { return }
        while isUp {
            switch flights.next(waiting: lane.waiting) {
            case .launchNext(let isAhead):
                let batch = lane.take()
                launch(flights.launched(batch, isAhead: isAhead), batch, isAhead: isAhead)
            case .relaunch(let number, let batch): launch(number, batch, isAhead: false, isAgain: true)
            case .tell(let batch, let written): finish(batch, written)
            case .takeApart(let batch, let error):
                isTakingApart = true
                return recover(batch, 1, error) {
                    self.isTakingApart = false
                    self.sequence()
                }
            case .wait, .rest: return
            }
        }
    }

    private func launch(_ number: Int, _ batch: [Element], isAhead: Bool, isAgain: Bool = false) {
        let lease = lease
        // Tasks may start in another order than they were made.
        world.after(random.within(0...1)) {
            guard lease.isHeld else { return }
            var isPlanned = false
            let planned = {
                if !isPlanned, !isAgain, number < self.plannedThrough {
                    self.world.broke(.clientOrder, "batch \(number) was planned after \(self.plannedThrough)")
                }
                self.plannedThrough = max(self.plannedThrough, number)
                isPlanned = true
            }
            self.write(batch, isAhead: isAhead, planned: planned) { result in
                if case .success(let written) = result { self.lane.putBack(self.left(of: batch, written)) }
                self.flights.ended(number, result)
                self.sequence()
            }
            guard isPlanned else { return }
            self.flights.planned(number)
            self.sequence()
        }
    }

    /// One step of the order; `done` does not hear of it when the node dies.
    private func write(
        _ elements: [Element], isAhead: Bool = false, refusing: Bool = false, planned: @escaping () -> Void = {},
        done: @escaping (Result<Written, StoreError>) -> Void
    ) {
        let submissions = elements.map(\.submission)
        var outcomes: [PushOutcome] = []
        var left: [Int: Submission] = [:]
        world.database.sequence(
            ModelDatabase.Step(
                lease: lease, reads: sequencer.reads(for: submissions), isAhead: isAhead, memories: memories,
                steps: SubmittedStep.steps(of: submissions, refusing: refusing),
                plan: { [self] reads in
                    let plan = sequencer.plan(
                        submissions, reads: reads, now: clock, nonce: random.next(), refusing: refusing)
                    (outcomes, left) = (plan.outcomes, plan.left)
                    if plan.batch != nil, left.isEmpty { planned() }
                    return plan.batch
                },
                done: { [self] result in
                    if perhapsCrash() { return }
                    done(result.map { Written(batch: $0, outcomes: outcomes, left: left) })
                }))
    }

    /// A batch by itself, with nothing else on its way.
    private func commit(
        _ elements: [Element], attempt: Int, refusing: Bool = false, then next: @escaping () -> Void
    ) {
        write(elements, refusing: refusing) { [self] result in
            switch result {
            case .success(let written):
                finish(elements, written)
                guard isUp else { return }
                let left = left(of: elements, written)
                if left.isEmpty { next() } else { commit(left, attempt: 1, refusing: refusing, then: next) }
            case .failure(let error): recover(elements, attempt, error, then: next)
            }
        }
    }

    private func recover(_ elements: [Element], _ attempt: Int, _ error: StoreError, then next: @escaping () -> Void) {
        switch error.kind {
        case .invariant: world.broke(.tiling, error.description)
        case .unavailable, .overtaken, .timeout:
            guard attempt < world.plan.lane.attemptsMax else {
                for element in elements { settle(element, .unavailable) }
                return next()
            }
            let lease = lease
            world.after(random.within(10...300)) {
                if lease.isHeld { self.commit(elements, attempt: attempt + 1, then: next) }
            }
        case .data: bisect(elements, then: next)
        }
    }

    /// Finds the entry that the database will not store, and refuses it alone.
    private func bisect(_ elements: [Element], then next: @escaping () -> Void) {
        if elements.count > 1 {
            let half = elements.count / 2
            return commit(Array(elements[..<half]), attempt: 1) {
                self.commit(Array(elements[half...]), attempt: 1, then: next)
            }
        }
        guard let element = elements.first else { return next() }
        guard element.submission.entries.count > 1 else {
            return commit([element], attempt: 1, refusing: true, then: next)
        }
        let singles = element.submission.singles
        commitOneByOne(singles[...], ticket: element.ticket, then: next)
    }

    private func commitOneByOne(
        _ singles: ArraySlice<Submission>, ticket: Ticket, then next: @escaping () -> Void
    ) {
        guard var single = singles.first else { return next() }
        single.isLast = single.isLast && singles.count == 1
        commit([(single, ticket)], attempt: 1) {
            self.commitOneByOne(singles.dropFirst(), ticket: ticket, then: next)
        }
    }

    /// What goes into the next batch.
    private func left(of elements: [Element], _ written: Written) -> [Element] {
        elements.indices.compactMap { index in written.left[index].map { ($0, elements[index].ticket) } }
    }

    private func finish(_ elements: [Element], _ written: Written) {
        let told = elements.indices.filter { written.left[$0] == nil }.map { (elements[$0], written.outcomes[$0]) }
        // Sessions may hear of the outcome before or after the rows reach them.
        let settlesFirst = random.chance(500)
        if settlesFirst { for (element, outcome) in told { settle(element, outcome) } }
        if isUp, let batch = written.batch { delivered(batch) }
        if isUp, !settlesFirst { for (element, outcome) in told { settle(element, outcome) } }
    }

    private func settle(_ element: Element, _ outcome: PushOutcome) {
        if case .forked = outcome {
            world.broke(.exactlyOnce, "a delayed duplicate of \(element.submission.client) was taken for a fork")
        }
        switch element.ticket {
        case .session(let id):
            advance { $0.settled(id, outcome, pushEnd: element.submission.pushEnd, into: &$1) }
        case .call(let call): calls.removeValue(forKey: call)?(outcome)
        }
    }
}
