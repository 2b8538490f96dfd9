import TidemarkModel
import TidemarkStore

/// What is already in a read set while it grows, so that nothing is asked for twice.
struct AskedKeys {
    private var known: Set<RecordKey> = []
    /// Who creates each record that begins in this group; that pair is not among `pairs`.
    private var births: [RecordKey: UserID] = [:]
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
            guard !known.contains(step.key) else { return notePair(pair, in: &reads) }
            guard let first = births.updateValue(user, forKey: step.key) else { return reads.births.append(pair) }
            // Who comes later does not take its place.
            births[step.key] = first
            notePair(pair, in: &reads)
        case .undelete(_, _, let scope):
            noteSeat(step, user, scope, in: &reads)
            notePair(pair, in: &reads)
        case .update, .delete:
            notePair(pair, in: &reads)
        }
    }

    private mutating func notePair(_ pair: ReadSet.RecordSeat, in reads: inout ReadSet) {
        let creator = births[pair.record]
        guard creator != pair.user, pairs.insert(pair).inserted else { return }
        guard creator == nil else { return reads.births.append(pair) }
        if known.insert(pair.record).inserted { reads.records.append(pair.record) }
        reads.recordSeats.append(pair)
    }

    private mutating func noteSeat(_ step: Step, _ user: UserID, _ scope: ScopeID, in reads: inout ReadSet) {
        guard case .field = step.collection.scope else { return }
        let seat = Seat(user: user, scope: scope)
        if seats.insert(seat).inserted { reads.seats.append(seat) }
    }
}
