import TidemarkStore

/// The batches of one workspace that are on their way into the store, at most two: a pure machine.
///
/// The second one flies ahead: it was planned on top of what the first is expected to leave, so the first must have been
/// planned before. When the first lands as expected, so may the second; else the second comes back and is launched again
/// once the first is settled. What landed is told in the order of the batches, after the next one was launched.
struct Flights<Load: Sendable, Written: Sendable>: Sendable {
    /// What to do next. After doing it, ask again.
    enum Move: Sendable {
        /// Take a batch from the queue and launch it: report it by `launched`.
        case launchNext(isAhead: Bool)
        /// Launch it once more, with nothing before it.
        case relaunch(number: Int, Load)
        case tell(Load, Written)
        /// The store refused the batch, or could not take it as a whole: settle it piece by piece. Nothing else flies
        /// that is not expected to come back.
        case takeApart(Load, StoreError)
        /// Until a flight ends; if `isOpen`, also until there is enough for a flight ahead.
        case wait(isOpen: Bool)
        /// Nothing waits, flies or is untold.
        case rest
    }

    private struct Flight {
        let number: Int
        let load: Load
        var isAhead: Bool
        var isPlanned = false
        var result: Result<Written, StoreError>?
    }

    private var flights: [Flight] = []
    private var untold: [(load: Load, written: Written)] = []
    private var launches = 0
    /// Flights to come before one is sent ahead again.
    private var caution = 0
    private let aheadMin: Int

    /// - Parameter aheadMin: waiting transactions for which a flight ahead is worth it.
    init(aheadMin: Int) { self.aheadMin = aheadMin }

    /// Nothing is on its way or untold.
    var isEmpty: Bool { flights.isEmpty && untold.isEmpty }

    /// - Parameter waiting: transactions in the queue.
    mutating func next(waiting: Int) -> Move {
        land()
        guard let first = flights.first else {
            if waiting > 0 { return .launchNext(isAhead: false) }
            return tellFirst() ?? .rest
        }
        guard case .failure(let error)? = first.result else {
            let isOpen = flights.count == 1 && first.isPlanned && caution == 0
            if isOpen, waiting >= aheadMin { return .launchNext(isAhead: true) }
            return tellFirst() ?? .wait(isOpen: isOpen)
        }
        if first.isAhead {
            flights[0].isAhead = false
            flights[0].isPlanned = false
            flights[0].result = nil
            return .relaunch(number: first.number, first.load)
        }
        if let told = tellFirst() { return told }
        // The second one cannot land any more, unless the first did without our hearing of it.
        if flights.count > 1, flights[1].result == nil { return .wait(isOpen: false) }
        flights.removeFirst()
        return .takeApart(first.load, error)
    }

    /// The batch was taken and goes out; returns its number.
    mutating func launched(_ load: Load, isAhead: Bool) -> Int {
        launches += 1
        caution = max(0, caution - 1)
        flights.append(Flight(number: launches, load: load, isAhead: isAhead))
        return launches
    }

    /// A flight's batch was planned from memory, so that what it leaves can be expected: one may fly ahead of it.
    mutating func planned(_ number: Int) {
        guard let index = flights.firstIndex(where: { $0.number == number }) else { return }
        flights[index].isPlanned = true
    }

    /// What a flight carries; `nil` when it does not fly.
    func load(of number: Int) -> Load? { flights.first { $0.number == number }?.load }

    /// A flight ended.
    mutating func ended(_ number: Int, _ result: Result<Written, StoreError>) {
        guard let index = flights.firstIndex(where: { $0.number == number }) else { return }
        flights[index].result = result
        if flights[index].isAhead, case .failure = result { caution = Self.cautiousFlights }
    }

    private mutating func land() {
        while let first = flights.first, case .success(let written)? = first.result {
            untold.append((first.load, written))
            flights.removeFirst()
        }
    }

    private mutating func tellFirst() -> Move? {
        guard !untold.isEmpty else { return nil }
        let (load, written) = untold.removeFirst()
        return .tell(load, written)
    }

    private static var cautiousFlights: Int { 8 }
}
