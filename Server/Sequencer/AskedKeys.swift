import TidemarkModel
import TidemarkStore

/// What is already in a read set while it grows, so that nothing is asked for twice.
struct AskedKeys {
    private var known: Set<RecordKey> = []
    private var births: Set<RecordKey> = []
    private var pairs: Set<ReadSet.RecordSeat> = []
    private var seats: Set<Seat> = []

    /// - Parameter transactions: about how many there will be; with one record each nothing is hashed twice.
    init(expecting transactions: Int) {
        births.reserveCapacity(transactions)
        pairs.reserveCapacity(transactions)
        seats.reserveCapacity(transactions)
    }

    /// Adds what one step looks at. A key whose first use is a create is a birth: what comes after it sees what the
    /// batch made of it.
    mutating func note(_ step: Step, by user: UserID, in reads: inout ReadSet) {
        let pair = ReadSet.RecordSeat(user: user, record: step.key)
        switch step.action {
        case .create(_, _, let scope):
            noteSeat(step, user, scope, in: &reads)
            if !known.contains(step.key) { births.insert(step.key) }
            notePair(pair, in: &reads)
        case .undelete(_, _, let scope):
            noteSeat(step, user, scope, in: &reads)
            notePair(pair, in: &reads)
        case .update, .delete:
            notePair(pair, in: &reads)
        }
    }

    private mutating func notePair(_ pair: ReadSet.RecordSeat, in reads: inout ReadSet) {
        guard pairs.insert(pair).inserted else { return }
        guard !births.contains(pair.record) else { return reads.births.append(pair) }
        if known.insert(pair.record).inserted { reads.records.append(pair.record) }
        reads.recordSeats.append(pair)
    }

    private mutating func noteSeat(_ step: Step, _ user: UserID, _ scope: ScopeID, in reads: inout ReadSet) {
        guard case .field = step.collection.scope else { return }
        let seat = Seat(user: user, scope: scope)
        if seats.insert(seat).inserted { reads.seats.append(seat) }
    }
}
