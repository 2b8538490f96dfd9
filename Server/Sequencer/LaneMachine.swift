package import TidemarkModel
package import TidemarkStore

/// The sequencing of one workspace: a pure machine that plans batches, sends them to the store one behind the other, and
/// tells what came of them in their order.
///
/// At most two batches are on their way. The second one is *ahead*: it was planned on top of what the first is expected to
/// leave, and the store takes it only if the first left that (`AHEAD.md`). What has to be read goes its way alone.
///
/// Its executor asks ``next(waiting:now:nonce:)``, carries the action out, and reports what came of it.
package struct LaneMachine<Ticket: Sendable>: Sendable {
    package typealias Element = LaneQueue<Ticket>.Element

    /// What the executor is to do. Then it asks again, except after ``wait(isOpen:)`` and ``rest``.
    package enum Action: Sendable {
        /// Take a batch from the queue and hand it over by ``take(_:isAhead:)``.
        case take(isAhead: Bool)
        /// Put this back into the queue.
        case putBack([Element], cut: ClientID?)
        /// Read from the store, and report by ``read(_:_:)``.
        case read(Int, ReadSet)
        /// Give a lock back under which nothing is to be written.
        case end(any Turn)
        /// Commit, and report by ``committed(_:_:)``. Commits are started in this order.
        case commit(Int, PlannedBatch)
        /// Deliver the batch, if there is one, then answer: what submitters hear next is behind it.
        case deliver(CommittedBatch?, isHeard: Bool, [(ticket: Ticket, outcome: PushOutcome)])
        /// Wait before the store is tried again, and report by ``resumed(goesOn:)``.
        case pause(afterFailures: Int)
        /// Worth a line in the log.
        case note(LaneNote)
        /// Wait for a report; if `isOpen`, also until the queue has ``LaneLimits/aheadTransactionsMin``.
        case wait(isOpen: Bool)
        /// Nothing waits, is on its way or is undelivered.
        case rest
    }

    /// One batch, from the queue to the store's answer.
    struct Flight: Sendable {
        enum State: Sendable {
            /// To be planned; `looks` says that memory is not to be asked.
            case fresh(looks: Bool)
            case reading
            case read(Reading)
            case committing
            case over(Result<Commitment, StoreError>)
        }

        let number: Int
        let elements: [Element]
        let submissions: [Submission]
        let reads: ReadSet
        let refuses: Bool
        var isAhead: Bool
        var state: State
        var plan: Plan?
        /// Planned from memory, with room for all of it: another may fly ahead of it.
        var canBeFollowed = false
        /// How often it was planned on something that was not so any more.
        var moves = 0

        var result: Result<Commitment, StoreError>? { if case .over(let result) = state { result } else { nil } }
    }

    let sequencer: Sequencer
    private let limits: LaneLimits
    /// What is remembered of the workspace; true only if nothing is on its way.
    package var memory: OrderMemory
    private var flights: [Flight] = []
    private var landed: [Flight] = []
    /// What is to be done before anything else.
    var due: [Action] = []
    /// A batch that is being settled piece by piece, alone.
    var settling: LaneSettling<Ticket>?
    private var lastNumber = 0
    /// Batches to come before one is sent ahead again.
    private var caution = 0

    package init(sequencer: Sequencer, limits: LaneLimits, memory: OrderMemory = OrderMemory()) {
        self.sequencer = sequencer
        self.limits = limits
        self.memory = memory
    }

    /// Tries of a piece while the store is unavailable.
    var attemptsMax: Int { limits.attemptsMax }

    /// Nothing is on its way or undelivered.
    package var isEmpty: Bool { flights.isEmpty && landed.isEmpty && settling == nil && due.isEmpty }

    /// - Parameters:
    ///   - waiting: transactions in the queue.
    ///   - nonce: another one for each call; called when a batch is planned.
    package mutating func next(waiting: Int, now: Milliseconds, nonce: () -> UInt64) -> Action {
        while true {
            if !due.isEmpty { return due.removeFirst() }
            if let action = settling == nil ? step(waiting, now, nonce) : settle(now, nonce) { return action }
        }
    }

    /// The batch that was to be taken.
    package mutating func take(_ elements: [Element], isAhead: Bool) {
        guard !elements.isEmpty else { return }
        caution = max(0, caution - 1)
        flights.append(flight(elements, elements.map(\.submission), isAhead: isAhead))
    }

    /// The store answered a ``Action/read(_:_:)``.
    package mutating func read(_ number: Int, _ result: Result<Reading, StoreError>) {
        change(number) { flight in
            switch result {
            case .success(let reading): flight.state = .read(reading)
            case .failure(let error): flight.state = .over(.failure(error))
            }
        }
    }

    /// The store answered a ``Action/commit(_:_:)``.
    package mutating func committed(_ number: Int, _ result: Result<Commitment, StoreError>) {
        change(number) { $0.state = .over(result) }
    }

    /// What is in a batch that is on its way, and whether all of it is refused.
    func content(of number: Int) -> (submissions: [Submission], refuses: Bool) {
        let flight = (flights + [settling?.flight].compactMap(\.self)).first { $0.number == number }
        return (flight?.submissions ?? [], flight?.refuses ?? false)
    }

    private mutating func change(_ number: Int, _ body: (inout Flight) -> Void) {
        if settling?.flight?.number == number, var flight = settling?.flight {
            body(&flight)
            settling?.flight = flight
        } else if let index = flights.firstIndex(where: { $0.number == number }) {
            body(&flights[index])
        }
    }

    mutating func flight(
        _ elements: [Element], _ submissions: [Submission], isAhead: Bool = false, refuses: Bool = false
    ) -> Flight {
        lastNumber += 1
        return Flight(
            number: lastNumber, elements: elements, submissions: submissions,
            reads: sequencer.reads(for: submissions), refuses: refuses, isAhead: isAhead, state: .fresh(looks: false))
    }

    // MARK: Batches on their way

    /// `nil` when there is to be asked again.
    private mutating func step(_ waiting: Int, _ now: Milliseconds, _ nonce: () -> UInt64) -> Action? {
        land()
        guard due.isEmpty else { return nil }
        guard let first = flights.first else {
            return waiting > 0 ? .take(isAhead: false) : deliverFirst() ?? .rest
        }
        switch first.state {
        case .fresh, .read: return launch(0, now, nonce)
        case .reading: return deliverFirst() ?? .wait(isOpen: false)
        case .committing where flights.count > 1:
            if case .fresh = flights[1].state { return launch(1, now, nonce) }
            return deliverFirst() ?? .wait(isOpen: false)
        case .committing:
            let isOpen = first.canBeFollowed && caution == 0
            if isOpen, waiting >= limits.aheadTransactionsMin { return .take(isAhead: true) }
            return deliverFirst() ?? .wait(isOpen: isOpen)
        case .over(.failure(let error)) where !first.isAhead: return takeApart(first, error)
        case .over:
            planAgain()
            return nil
        }
    }

    /// Batches that are written leave, in their order.
    private mutating func land() {
        while let first = flights.first, case .success(.written)? = first.result {
            flights.removeFirst()
            landed.append(first)
            guard let left = first.plan?.left, !left.isEmpty else { continue }
            putBack(left, of: first)
        }
    }

    /// Nothing flies ahead of a batch that left something: what goes back is the next to be taken.
    private mutating func putBack(_ left: [Int: Submission], of flight: Flight) {
        var cut: ClientID?
        let elements = flight.elements.indices.compactMap { index -> Element? in
            guard let rest = left[index] else { return nil }
            var element = flight.elements[index]
            if rest.first != element.submission.first { cut = cut ?? rest.client }
            element.earlier = (flight.plan?.outcomes[index]).map(element.outcome)
            element.submission = rest
            return element
        }
        due.append(.putBack(elements, cut: cut))
    }

    private mutating func deliverFirst() -> Action? {
        guard !landed.isEmpty else { return nil }
        let flight = landed.removeFirst()
        guard let plan = flight.plan, case .success(.written(let isHeard))? = flight.result else { return nil }
        let answers = flight.elements.indices.filter { plan.left[$0] == nil }.map { index in
            (flight.elements[index].ticket, flight.elements[index].outcome(plan.outcomes[index]))
        }
        return .deliver(plan.batch, isHeard: isHeard, answers)
    }

    /// The store could not take the first batch. Before it is settled piece by piece, what is ahead of it has to be back.
    private mutating func takeApart(_ flight: Flight, _ error: StoreError) -> Action? {
        memory.forget()
        if let action = deliverFirst() { return action }
        if flights.count > 1, flights[1].result == nil {
            guard case .fresh = flights[1].state else { return .wait(isOpen: false) }
            flights[1].state = .over(.success(.moved))
        }
        flights.removeFirst()
        settling = LaneSettling(flight, after: error)
        return nil
    }

    /// Nothing of the first batch was written: it is planned on what is stored.
    private mutating func planAgain() {
        if flights[0].isAhead {
            // The one before it may only have come out otherwise.
            caution = Self.cautiousBatches
            memory.forget()
        } else {
            memory.distrustItself()
        }
        flights[0].planAgain()
    }

    private mutating func launch(_ index: Int, _ now: Milliseconds, _ nonce: () -> UInt64) -> Action? {
        var flight = flights[index]
        let action = prepare(&flight, now, nonce)
        flights[index] = flight
        return action
    }

    private static var cautiousBatches: Int { 8 }
}

extension LaneMachine.Flight {
    mutating func planAgain() {
        isAhead = false
        moves += 1
        state =
            moves > Self.movesMax
            ? .over(.failure(StoreError(.unavailable, "the order moves on under each plan"))) : .fresh(looks: true)
    }

    private static var movesMax: Int { 8 }
}

extension LaneMachine {
    /// Plans a batch that is not on its way: from memory where that holds everything, else on what was read.
    ///
    /// - Returns: what to do for it; `nil` when it is over, or there is to be asked again.
    mutating func prepare(_ flight: inout Flight, _ now: Milliseconds, _ nonce: () -> UInt64) -> Action? {
        switch flight.state {
        case .fresh(let looks):
            // Repetitions and refusals of whole pushes make no batch, and memory knows no records: that only the stored
            // state may decide.
            if !looks, memory.holds(flight.reads), let action = commit(&flight, nil, now, nonce) { return action }
            guard !flight.isOver else { return nil }
            guard !flight.isAhead else {
                flight.state = .over(.success(.moved))
                return nil
            }
            flight.state = .reading
            return .read(flight.number, memory.missing(flight.reads, everything: looks))
        case .read(let reading):
            guard memory.take(reading) else {
                if let turn = reading.turn { due.append(.end(turn)) }
                memory.distrustItself()
                flight.planAgain()
                return nil
            }
            if let action = commit(&flight, reading, now, nonce) { return action }
            if let turn = reading.turn { due.append(.end(turn)) }
            if !flight.isOver { flight.state = .over(.success(.written(isHeard: false))) }
            return nil
        case .reading, .committing, .over: return nil
        }
    }

    /// Plans the batch, which counts as written from here on; `nil` when there is none.
    private mutating func commit(
        _ flight: inout Flight, _ reading: Reading?, _ now: Milliseconds, _ nonce: () -> UInt64
    ) -> Action? {
        do throws(StoreError) {
            guard let planned = try plan(&flight, reading, now, nonce()) else { return nil }
            memory.planned(planned.batch, clients: planned.clients)
            flight.canBeFollowed = reading == nil && flight.plan?.left.isEmpty == true
            flight.state = .committing
            return .commit(flight.number, planned)
        } catch {
            flight.state = .over(.failure(error))
            return nil
        }
    }

    /// What memory is made of is let go before this returns: to change it while it is shared would copy all of it.
    private func plan(
        _ flight: inout Flight, _ reading: Reading?, _ now: Milliseconds, _ nonce: UInt64
    ) throws(StoreError) -> PlannedBatch? {
        guard let base = memory.base(with: reading?.state.records ?? [:]) else { return nil }
        let plan = sequencer.plan(flight.submissions, on: base, now: now, nonce: nonce, refusing: flight.refuses)
        flight.plan = plan
        guard let batch = plan.batch, reading != nil || !plan.hasMissed else { return nil }
        return try PlannedBatch(batch, on: base, heard: memory.heard, turn: reading?.turn, isAhead: flight.isAhead)
    }
}

extension LaneMachine.Flight {
    fileprivate var isOver: Bool { result != nil }
}
