import TidemarkModel
package import TidemarkStore

/// Builds one batch: admits submissions one after the other over what was read plus what the batch already holds.
struct BatchPlanner {
    private let head: Head
    private let base: OrderState
    private let nonce: UInt64
    private let refusing: Bool
    private let limits: ModelLimits
    private let bounds: PlanLimits
    private var staged: StagedState
    /// As the batch leaves them so far.
    private var clients: [ClientID: ClientRow] = [:]
    private var results: [ClientID: [TransactionOutcome]] = [:]
    /// Clients with results of this batch, in the order of their first.
    private var settled: [ClientID] = []

    init(
        sequencer: Sequencer, base: OrderState, expecting count: Int, now: Milliseconds, nonce: UInt64, refusing: Bool
    ) {
        limits = sequencer.limits
        bounds = sequencer.bounds
        self.base = base
        self.nonce = nonce
        self.refusing = refusing
        head = base.head
        clients.reserveCapacity(count)
        results.reserveCapacity(count)
        settled.reserveCapacity(count)
        staged = StagedState(
            base: base, expecting: count, time: max(now, base.head.time), bounds: sequencer.bounds)
    }

    /// Settles one submission entry by entry.
    ///
    /// - Returns: what became of it; and what is left of it when the batch has cost enough: its outcome, to be joined with
    ///   that of the other part, then says how far it came.
    mutating func settle(_ submission: Submission) -> (outcome: PushOutcome, left: Submission?) {
        if isFull { return (.settled(through: 0, results: []), submission) }
        var left: Submission?
        let outcome = settle(submission, &left)
        return (outcome, left)
    }

    /// See ``Plan/hasMissed``.
    var hasMissed: Bool { staged.hasMissed }

    /// At least one transaction is settled in each batch.
    private var isFull: Bool { staged.work >= bounds.batchWorkMax && !settled.isEmpty }

    private mutating func settle(_ submission: Submission, _ left: inout Submission?) -> PushOutcome {
        guard var client = clients[submission.client] ?? base.clients[submission.client]?.row,
            client.user == submission.principal.user
        else { return .unknownClient }
        guard submission.connection >= client.connection else { return .stale }
        var outcomes: [TransactionOutcome] = []
        outcomes.reserveCapacity(submission.entries.count)
        defer { clients[client.id] = client }
        var number = submission.first
        var isRoomKnown = false
        for entry in submission.entries {
            if number <= client.settledThrough {
                guard let earlier = result(of: client.id, number), earlier.transaction == entry.id else {
                    return .forked
                }
                outcomes.append(earlier)
            } else if number == client.settledThrough + 1 {
                if isFull {
                    left = submission.dropping(outcomes.count)
                    break
                }
                guard isRoomKnown || hasRoom(for: submission, of: client) else { return .overloaded }
                isRoomKnown = true
                let result = settle(entry, number: number, of: submission)
                client.settledThrough = number
                client.connection = submission.connection
                let clientsBefore = results.count
                results[client.id, default: []].append(result)
                if results.count > clientsBefore { settled.append(client.id) }
                outcomes.append(result)
            } else {
                return .gap(settledThrough: client.settledThrough)
            }
            number += 1
        }
        // the client cannot have seen more than is settled. Where it did, the database may have gone back; but anybody
        // can say so, and the tail finds out by itself.
        client.ackedThrough = max(client.ackedThrough, min(submission.ackedThrough, client.settledThrough))
        return .settled(through: client.settledThrough, results: outcomes)
    }

    /// The batch, or `nil` when every entry was a repetition.
    func finish() -> CommittedBatch? {
        guard !settled.isEmpty else { return nil }
        // A batch of refusals still takes one number: it is a step of the order like any other.
        let end = max(staged.last, head.seq + 1)
        var batch = CommittedBatch(
            low: head.seq + 1, head: Head(seq: end, nonce: nonce, time: staged.time, epoch: head.epoch),
            records: staged.writtenRecords, memberships: staged.memberships,
            settlements: settled.compactMap { id in
                clients[id].map { Settlement(client: $0, results: results[id] ?? []) }
            }, ledger: staged.ledger)
        batch.baseNonce = head.nonce
        return batch
    }

    /// Whether more outcomes may be kept of the client, with those that it acknowledges gone. Those of the batch
    /// itself are few, and not counted for a client that has few others.
    private func hasRoom(for submission: Submission, of client: ClientRow) -> Bool {
        guard let kept = base.clients[client.id]?.kept, kept.count > StoredClient.keptFew else { return true }
        let acked = max(client.ackedThrough, min(submission.ackedThrough, client.settledThrough))
        let left = kept.lazy.filter { $0.number > acked }.map(\.keptBytes).reduce(0, +)
        return left + (results[client.id] ?? []).map(\.keptBytes).reduce(0, +) < bounds.outcomeBytesMax
    }

    private func result(of client: ClientID, _ number: Int64) -> TransactionOutcome? {
        results[client]?.first { $0.number == number } ?? base.clients[client]?.result(number)
    }

    /// One transaction: all of its steps are staged, or none.
    private mutating func settle(_ entry: AdmittedEntry, number: Int64, of submission: Submission) -> TransactionOutcome
    {
        var rejection: Rejection?
        var contested: [ContestedFields] = []
        let mark = staged.mark(sharedScopes: entry.sharedScopes)
        do throws(Rejection) {
            if refusing { throw Rejection(.internalRejected, "the server could not store this transaction") }
            let steps = try entry.steps.get()
            for step in steps { try staged.apply(step, ifSeq: entry.ifSeq, of: submission, limits: limits) }
            contested = staged.contested
            if let refusal = staged.refusal(ofSteps: steps.count, in: steps.first?.collection) { throw refusal }
        } catch {
            staged.rollBack(to: mark)
            rejection = error
        }
        return TransactionOutcome(
            number: number, transaction: entry.id,
            seq: rejection == nil ? staged.lastEffect(since: mark) : staged.last, time: staged.time,
            rejection: rejection, contested: contested)
    }
}

/// What becomes of a group of submissions.
package struct Plan: Sendable {
    /// What is to be written; `nil` when nothing changes.
    package var batch: CommittedBatch?
    /// One for each submission.
    package var outcomes: [PushOutcome]
    /// The rest of submissions for which the batch had no room, by their index: to be planned again on top of it, before
    /// anything that follows it from the same client. Their outcome says how far they came.
    package var left: [Int: Submission]
    /// Something was refused because a record, or a seat, was not in the base: true only of a base with everything that was
    /// asked for. Memory takes records for absent that the group creates, and a create may come to nothing: it is repeated,
    /// or refused.
    package var hasMissed: Bool
}

/// Bounds of what planning takes into one batch.
///
/// Planning holds up whoever else waits for the same writer. What it takes depends on what is stored, not on the bytes that
/// were sent: so **work** is counted in bytes that are read and written, as values of the fields that a patch touches, or
/// as whole bodies that are parsed, created or encoded; a membership that changes counts as ``membershipWork``. The count is
/// the same on every machine.
package struct PlanLimits: Hashable, Sendable {
    /// Bytes of outcomes that are kept of a client until it acknowledges them; then its pushes are `overloaded`.
    package var outcomeBytesMax = 512 * 1024
    /// Work of one batch: with what exceeds it the next one begins. Some tens of milliseconds.
    package var batchWorkMax = 4 * 1_048_576
    /// Work of one transaction, which cannot be divided; beyond it is refused as `too_large`.
    package var transactionWorkMax = 64 * 1_048_576
    /// Work of a mutation beside what it reads and writes.
    package var stepWork = 64
    /// Work of one membership that begins, ends or changes its role.
    package var membershipWork = 1_024

    package init() {}
}

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
        for named in step.namedWithin where births[named] == nil && known.insert(named).inserted {
            reads.records.append(named)
        }
        let pair = ReadSet.RecordSeat(user: user, record: step.key)
        switch step.action {
        case .create(_, _, let scope):
            noteSeat(step, user, scope, in: &reads)
            guard !known.contains(step.key) else { return notePair(pair, in: &reads) }
            guard let first = births.updateValue(user, forKey: step.key) else { return reads.births.append(pair) }
            // Who comes later does not take its place.
            births[step.key] = first
            notePair(pair, in: &reads)
        case .undelete(_, let scope):
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
