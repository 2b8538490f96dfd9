import TidemarkModel
import TidemarkStore

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
