package import TidemarkModel
package import TidemarkStore

/// A note of a lane for the operator.
package enum LaneNote: Hashable, Sendable {
    /// The store refused a part of a batch; `client` and `number` are those of its first transaction.
    case refused(StoreError, Bisection.Remedy, submissions: Int, client: ClientID?, number: Int64)
    /// The store was unavailable for all attempts: the batch was given up.
    case gaveUp(StoreError, tries: Int)
}

/// A batch that the store refused or could not take as a whole, and that is now settled piece by piece.
struct LaneSettling<Ticket: Sendable>: Sendable {
    typealias Flight = LaneMachine<Ticket>.Flight

    let elements: [LaneQueue<Ticket>.Element]
    var bisection: Bisection
    /// The piece in flight.
    var flight: Flight?
    fileprivate var piece: Bisection.Piece?
    /// The number of failures in a row.
    fileprivate var failures = 0
    fileprivate var lastError: StoreError

    init(_ flight: Flight, after error: StoreError) {
        elements = flight.elements
        bisection = Bisection(flight.submissions)
        piece = bisection.next()
        lastError = error
        // The whole batch has failed already.
        self.flight = flight
        self.flight?.state = .over(.failure(error))
    }
}

extension LaneMachine {
    /// Returns the next action of settling; `nil` when the caller must ask again.
    mutating func settle(_ now: Milliseconds, _ nonce: () -> UInt64) -> Action? {
        guard var flight = settling?.flight else { return launchPiece() }
        switch flight.state {
        case .fresh, .read:
            let action = prepare(&flight, now, nonce)
            settling?.flight = flight
            return action
        case .reading, .committing: return .wait(isOpen: false)
        case .over(.success(.written(let isHeard))): return written(flight, isHeard)
        case .over(.success(.moved)):
            memory.distrustItself()
            settling?.flight?.planAgain()
            return nil
        case .over(.failure(let error)): return failed(error)
        }
    }

    /// Continues after the executor's wait; `goesOn` is false if it did not wait because the service stops.
    package mutating func resumed(goesOn: Bool) {
        guard let piece = settling?.piece else { return }
        if goesOn { settling?.bisection.postponed(piece) } else { giveUp() }
    }

    private mutating func launchPiece() -> Action? {
        guard let piece = settling?.bisection.next() else { return answer() }
        let flight = flight([], piece.submissions, refuses: piece.refuses)
        settling?.piece = piece
        settling?.flight = flight
        return nil
    }

    private mutating func answer() -> Action? {
        guard let settled = settling else { return nil }
        settling = nil
        let answers = zip(settled.elements, settled.bisection.outcomes).map { ($0.ticket, $0.outcome($1)) }
        return .deliver(nil, isHeard: false, answers)
    }

    private mutating func written(_ flight: Flight, _ isHeard: Bool) -> Action? {
        settling?.flight = nil
        guard let plan = flight.plan, let piece = settling?.piece else { return nil }
        settling?.bisection.committed(piece, plan.outcomes, left: plan.left)
        settling?.failures = 0
        return plan.batch.map { .deliver($0, isHeard: isHeard, []) }
    }

    private mutating func failed(_ error: StoreError) -> Action? {
        memory.forget()
        settling?.flight = nil
        settling?.lastError = error
        guard let piece = settling?.piece else { return nil }
        switch error.kind {
        case .timeout where settling?.bisection.tookTooLong(piece) == true: settling?.failures = 0
        case .unavailable, .timeout:
            settling?.failures += 1
            let failures = settling?.failures ?? 0
            if failures < attemptsMax { return .pause(afterFailures: failures) }
            giveUp()
        case .data, .invariant:
            guard let remedy = settling?.bisection.refused(piece) else { return nil }
            let first = piece.submissions.first
            due.append(
                .note(
                    .refused(
                        error, remedy, submissions: piece.submissions.count, client: first?.client,
                        number: first?.first ?? 0)))
        }
        return nil
    }

    private mutating func giveUp() {
        guard let settled = settling, let piece = settled.piece else { return }
        due.append(.note(.gaveUp(settled.lastError, tries: settled.failures)))
        settling?.bisection.abandon(piece)
    }
}
