import TidemarkModel
import TidemarkStore

/// Builds one batch: admits submissions one after the other over what was read plus what the batch already holds.
struct BatchPlanner {
    private let head: Head
    private let reads: ReadResult
    private let nonce: UInt64
    private let refusing: Bool
    private let limits: ModelLimits
    private var staged: StagedState
    private var clients: [ClientID: ClientRow]
    private var results: [ClientID: [ResultRow]] = [:]
    /// Clients with results of this batch, in the order of their first.
    private var settled: [ClientID] = []

    init(sequencer: Sequencer, reads: ReadResult, now: Milliseconds, nonce: UInt64, refusing: Bool) {
        limits = sequencer.limits
        self.reads = reads
        self.nonce = nonce
        self.refusing = refusing
        head = reads.head
        clients = reads.clients
        results.reserveCapacity(reads.clients.count)
        settled.reserveCapacity(reads.clients.count)
        staged = StagedState(reads: reads, time: max(now, reads.head.time), sharedScopes: sequencer.sharedScopes)
    }

    /// Settles one submission entry by entry.
    mutating func settle(_ submission: Submission) -> PushOutcome {
        guard var client = clients[submission.client], client.user == submission.principal.user else {
            return .unknownClient
        }
        guard submission.connection >= client.connection else { return .stale }
        var settlements: [PushOutcome.Settlement] = []
        settlements.reserveCapacity(submission.entries.count)
        defer { clients[client.id] = client }
        var number = submission.first
        for entry in submission.entries {
            if number <= client.settledThrough {
                guard let earlier = result(of: client.id, number), earlier.transaction == entry.id else {
                    return .forked
                }
                settlements.append(earlier.settlement)
            } else if number == client.settledThrough + 1 {
                let result = settle(entry, number: number, of: submission)
                client.settledThrough = number
                client.connection = submission.connection
                let clientsBefore = results.count
                results[client.id, default: []].append(result)
                if results.count > clientsBefore { settled.append(client.id) }
                settlements.append(result.settlement)
            } else {
                return .gap(settledThrough: client.settledThrough)
            }
            number += 1
        }
        // the client cannot have seen more than is settled.
        client.ackedThrough = max(client.ackedThrough, min(submission.ackedThrough, client.settledThrough))
        return .settled(through: client.settledThrough, results: settlements)
    }

    /// The batch, or `nil` when every entry was a repetition.
    func finish() -> CommittedBatch? {
        guard !settled.isEmpty else { return nil }
        // A batch of refusals still takes one number: it is a step of the order like any other.
        let end = max(staged.last, head.seq + 1)
        return CommittedBatch(
            low: head.seq + 1, head: Head(seq: end, nonce: nonce, time: staged.time, epoch: head.epoch),
            records: staged.writtenRecords, memberships: staged.memberships,
            settlements: settled.compactMap { id in
                clients[id].map { Settlement(client: $0, results: results[id] ?? []) }
            }, ledger: staged.ledger)
    }

    private func result(of client: ClientID, _ number: Int64) -> ResultRow? {
        results[client]?.first { $0.number == number } ?? reads.results[client]?[number]
    }

    /// One transaction: all of its steps are staged, or none.
    private mutating func settle(_ entry: AdmittedEntry, number: Int64, of submission: Submission) -> ResultRow {
        var rejection: Rejection?
        let mark = staged.mark()
        do throws(Rejection) {
            if refusing { throw Rejection(.internalRejected, "the server could not store this transaction") }
            for step in try entry.steps.get() {
                try staged.apply(step, ifSeq: entry.ifSeq, of: submission, limits: limits)
            }
        } catch {
            staged.rollBack(to: mark)
            rejection = error
        }
        return ResultRow(
            client: submission.client, number: number, transaction: entry.id,
            seq: rejection == nil ? staged.lastEffect(since: mark) : staged.last, time: staged.time,
            rejection: rejection)
    }
}

extension ResultRow {
    fileprivate var settlement: PushOutcome.Settlement {
        .init(number: number, transaction: transaction, seq: seq, time: time, rejection: rejection)
    }
}
