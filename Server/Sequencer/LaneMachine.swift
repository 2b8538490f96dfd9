package import TidemarkModel
package import TidemarkStore

/// The sequencing of one workspace: a pure machine that plans batches, sends them to the store one after the other, and
/// returns their results in order.
///
/// At most two batches are in flight. The second one is *ahead*: it was planned on the state that the first is expected
/// to leave. The store writes it only if the first left that state (`AHEAD.md`). A batch that needs a read flies alone.
///
/// The executor calls ``next(waiting:now:nonce:)``, carries the action out, and reports the result.
package struct LaneMachine<Ticket: Sendable>: Sendable {
    package typealias Element = LaneQueue<Ticket>.Element

    /// An action for the executor. Afterwards it asks again, except after ``wait(isOpen:)`` and ``rest``.
    package enum Action: Sendable {
        /// Take a batch from the queue and pass it to ``take(_:isAhead:)``.
        case take(isAhead: Bool)
        /// Put these elements back into the queue.
        case putBack([Element], cut: ClientID?)
        /// Read from the store, and report by ``read(_:_:)``.
        case read(Int, ReadSet)
        /// Release a lock under which nothing is to be written.
        case end(any Turn)
        /// Commit, and report by ``committed(_:_:)``. Commits are started in this order.
        case commit(Int, PlannedBatch)
        /// Deliver the batch, if there is one, then answer: the answers follow the delivery.
        case deliver(CommittedBatch?, isHeard: Bool, [(ticket: Ticket, outcome: PushOutcome)])
        /// Wait before the store is tried again, and report by ``resumed(goesOn:)``.
        case pause(afterFailures: Int)
        /// Write a line to the log.
        case note(LaneNote)
        /// Wait for a report; if `isOpen`, also until the queue has ``LaneLimits/aheadTransactionsMin``.
        case wait(isOpen: Bool)
        /// Rest: nothing waits, is in flight or is undelivered.
        case rest
    }

    /// One batch, from the queue to the store's answer.
    struct Flight: Sendable {
        enum State: Sendable {
            /// To be planned; with `looks`, memory is not used.
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
        /// True when it was planned from memory and nothing is left of it: another batch may fly ahead of it.
        var canBeFollowed = false
        /// The number of times that its base had changed when it was to be written.
        var moves = 0

        var result: Result<Commitment, StoreError>? { if case .over(let result) = state { result } else { nil } }
    }

    let sequencer: Sequencer
    private let limits: LaneLimits
    /// The memory of the workspace; it equals the stored state only if nothing is in flight.
    package var memory: OrderMemory
    private var flights: [Flight] = []
    private var landed: [Flight] = []
    /// Actions to carry out before anything else.
    var due: [Action] = []
    /// The batch that is being settled piece by piece, alone.
    var settling: LaneSettling<Ticket>?
    private var lastNumber = 0
    /// The number of batches to come before one is sent ahead again.
    private var caution = 0

    package init(sequencer: Sequencer, limits: LaneLimits, memory: OrderMemory = OrderMemory()) {
        self.sequencer = sequencer
        self.limits = limits
        self.memory = memory
    }

    /// The maximum number of attempts for a piece while the store is unavailable.
    var attemptsMax: Int { limits.attemptsMax }

    /// True when nothing is in flight or undelivered.
    package var isEmpty: Bool { flights.isEmpty && landed.isEmpty && settling == nil && due.isEmpty }

    /// Returns the next action.
    ///
    /// - Parameters:
    ///   - waiting: the number of transactions in the queue.
    ///   - nonce: returns another one on each call; called when a batch is planned.
    package mutating func next(waiting: Int, now: Milliseconds, nonce: () -> UInt64) -> Action {
        while true {
            if !due.isEmpty { return due.removeFirst() }
            if let action = settling == nil ? step(waiting, now, nonce) : settle(now, nonce) { return action }
        }
    }

    /// Accepts the batch that was taken from the queue.
    package mutating func take(_ elements: [Element], isAhead: Bool) {
        guard !elements.isEmpty else { return }
        caution = max(0, caution - 1)
        flights.append(flight(elements, elements.map(\.submission), isAhead: isAhead))
    }

    /// Accepts the store's answer to a ``Action/read(_:_:)``.
    package mutating func read(_ number: Int, _ result: Result<Reading, StoreError>) {
        change(number) { flight in
            switch result {
            case .success(let reading): flight.state = .read(reading)
            case .failure(let error): flight.state = .over(.failure(error))
            }
        }
    }

    /// Accepts the store's answer to a ``Action/commit(_:_:)``.
    package mutating func committed(_ number: Int, _ result: Result<Commitment, StoreError>) {
        change(number) { $0.state = .over(result) }
    }

    /// Returns the content of a batch in flight, and whether all of it is refused.
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

    // MARK: Batches in flight

    /// Returns the next action; `nil` when the caller must ask again.
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

    /// Removes written batches from the front, in order.
    private mutating func land() {
        while let first = flights.first, case .success(.written)? = first.result {
            flights.removeFirst()
            landed.append(first)
            guard let left = first.plan?.left, !left.isEmpty else { continue }
            putBack(left, of: first)
        }
    }

    /// Puts the rest of a batch back. Nothing flies ahead of a batch that left something: the rest is taken next.
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

    /// Begins to settle the first batch piece by piece, which the store refused as a whole. The batch ahead of it must
    /// have returned before.
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

    /// Plans the first batch again, on what is stored: nothing of it was written.
    private mutating func planAgain() {
        if flights[0].isAhead {
            // Perhaps only the batch before it had another result than expected.
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
            ? .over(.failure(StoreError(.unavailable, "the order moved on before each commit"))) : .fresh(looks: true)
    }

    private static var movesMax: Int { 8 }
}

extension LaneMachine {
    /// Plans a batch that is not in flight: from memory if that holds everything, otherwise on what was read.
    ///
    /// - Returns: the next action; `nil` when the batch is settled, or the caller must ask again.
    mutating func prepare(_ flight: inout Flight, _ now: Milliseconds, _ nonce: () -> UInt64) -> Action? {
        switch flight.state {
        case .fresh(let looks):
            // Repetitions and refusals of whole pushes make no batch, and memory holds no records: only the stored
            // state may decide on them.
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

    /// Plans the batch, which memory treats as written from here on; `nil` when there is none.
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

    /// Plans on the memory's state. Its copy is released before this returns: changing it while it is shared would copy
    /// all of it.
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
