import TidemarkModel
package import TidemarkStore

/// Builds one batch: admits submissions one after the other over the read state and the batch so far.
struct BatchPlanner {
    private let head: Head
    private let base: OrderState
    private let nonce: UInt64
    private let refusing: Bool
    private let limits: ModelLimits
    private let bounds: PlanLimits
    private var staged: StagedState
    /// The settled clients with the batch's effects so far.
    private var clients: [ClientID: ClientRow] = [:]
    private var results: [ClientID: [TransactionOutcome]] = [:]
    /// Clients with results in this batch, in the order of their first result.
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
    /// - Returns: its outcome, and the part of it that is left if the batch is full. The outcome then says how far it
    ///   came, and is joined with that of the other part.
    mutating func settle(_ submission: Submission) -> (outcome: PushOutcome, left: Submission?) {
        if isFull { return (.settled(through: 0, results: []), submission) }
        var left: Submission?
        let outcome = settle(submission, &left)
        return (outcome, left)
    }

    /// See ``Plan/hasMissed``.
    var hasMissed: Bool { staged.hasMissed }

    /// True when the batch is full; each batch settles at least one transaction.
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
        // the client cannot have seen more than is settled. If it claims more, the database may have gone back;
        // but any client can claim that, and the tail detects it by itself.
        client.ackedThrough = max(client.ackedThrough, min(submission.ackedThrough, client.settledThrough))
        return .settled(through: client.settledThrough, results: outcomes)
    }

    /// Returns the batch, or `nil` when every entry was a repetition.
    func finish() -> CommittedBatch? {
        guard !settled.isEmpty else { return nil }
        // A batch of refusals still uses one number: it is a step of the order like any other.
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

    /// Returns whether more outcomes of the client may be kept, after those that it acknowledges are deleted.
    /// Those of the batch itself are few, and are not counted for a client with few others.
    private func hasRoom(for submission: Submission, of client: ClientRow) -> Bool {
        guard let kept = base.clients[client.id]?.kept, kept.count > StoredClient.keptFew else { return true }
        let acked = max(client.ackedThrough, min(submission.ackedThrough, client.settledThrough))
        let left = kept.lazy.filter { $0.number > acked }.map(\.keptBytes).reduce(0, +)
        return left + (results[client.id] ?? []).map(\.keptBytes).reduce(0, +) < bounds.outcomeBytesMax
    }

    private func result(of client: ClientID, _ number: Int64) -> TransactionOutcome? {
        results[client]?.first { $0.number == number } ?? base.clients[client]?.result(number)
    }

    /// Settles one transaction: all of its steps are staged, or none.
    private mutating func settle(_ entry: AdmittedEntry, number: Int64, of submission: Submission) -> TransactionOutcome
    {
        var rejection: Rejection?
        var contested: [ContestedFields] = []
        let mark = staged.mark(sharedScopes: entry.sharedScopes)
        do throws(Rejection) {
            if refusing { throw Rejection(.internalRejected, "the server could not store this transaction") }
            let steps = try entry.steps.get()
            for step in steps { try staged.apply(step, ifSeq: entry.ifSeq, of: submission, limits: limits) }
            try staged.judgeRules(steps, since: mark, of: submission)
            contested = staged.contested
            if let refusal = staged.refusal(ofSteps: steps.count, in: steps.first?.collection) { throw refusal }
            if steps.contains(where: \.collection.isConstrained) {
                try staged.judge(steps, by: submission.principal)
            }
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

/// The plan for a group of submissions.
package struct Plan: Sendable {
    /// The batch to write; `nil` when nothing changes.
    package var batch: CommittedBatch?
    /// One for each submission.
    package var outcomes: [PushOutcome]
    /// The rest of submissions that did not fit into the batch, by their index. It must be planned again on top of this
    /// batch, before later submissions of the same client. Their outcomes say how far they came.
    package var left: [Int: Submission]
    /// True when a refusal was caused by a record, or a seat, that is missing in the base. The refusal is certain only
    /// if the base holds everything that was asked for. Memory assumes records to be absent that the group creates, and
    /// such a create may fail: as a repetition, or refused.
    package var hasMissed: Bool
}

/// Bounds of the work planned into one batch.
///
/// Planning delays everything else that waits for the same writer. Its cost depends on what is stored, not on the bytes
/// that were sent. So **work** is counted in bytes read and written: values of the fields that a patch touches, or
/// whole bodies that are parsed, created or encoded. A membership that changes costs ``membershipWork``. The count is
/// the same on every machine.
package struct PlanLimits: Hashable, Sendable {
    /// The maximum number of outcome bytes kept for a client until it acknowledges them; beyond it, its pushes are
    /// `overloaded`.
    package var outcomeBytesMax = 512 * 1024
    /// The maximum work in one batch; the excess begins the next one. Some tens of milliseconds.
    package var batchWorkMax = 4 * 1_048_576
    /// The maximum work in one transaction, which cannot be divided; beyond it the transaction is refused as
    /// `too_large`.
    package var transactionWorkMax = 64 * 1_048_576
    /// The work of a mutation beside what it reads and writes.
    package var stepWork = 64
    /// The work of one membership that begins, ends or changes its role.
    package var membershipWork = 1_024
    /// The work of a step of a rule.
    package var ruleStepWork = 8

    package init() {}
}

/// The keys already in a growing read set, so that nothing is asked for twice.
struct AskedKeys {
    private var known: Set<RecordKey> = []
    /// The creator of each record that begins in this group; that pair is not among `pairs`.
    private var births: [RecordKey: UserID] = [:]
    private var pairs: Set<ReadSet.RecordSeat> = []
    private var seats: Set<Seat> = []

    /// - Parameter transactions: the approximate number of transactions; with one record each, nothing is hashed twice.
    init(expecting transactions: Int) {
        births.reserveCapacity(transactions)
        pairs.reserveCapacity(transactions)
        seats.reserveCapacity(transactions)
    }

    /// Adds what one step reads. A key whose first use is a create is a birth: later steps see what the batch made of
    /// it.
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
            // The first creator stays.
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
