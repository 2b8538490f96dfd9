import DequeModule
package import TidemarkModel

/// The queue of one workspace: first in, first out within a client, round robin between clients.
package struct LaneQueue<Ticket: Sendable>: Sendable {
    /// A submission in the queue.
    package struct Element: Sendable {
        package var submission: Submission
        /// The submitter's callback.
        package let ticket: Ticket
        /// The outcome of the part that earlier batches settled.
        var earlier: PushOutcome?

        package init(_ submission: Submission, ticket: Ticket) {
            self.submission = submission
            self.ticket = ticket
        }

        /// Returns the outcome of the whole submission from that of its last part.
        func outcome(_ last: PushOutcome) -> PushOutcome { earlier?.followed(by: last) ?? last }
    }

    /// The oldest submission of each client that has any, in the order of their turns.
    private var firsts = Deque<Element>()
    /// Further submissions, of the few clients that have more than one.
    private var others: [ClientID: Deque<Element>] = [:]
    /// The clients of `firsts`.
    private var clients: Set<ClientID> = []
    private var transactions = 0
    private var bytes = 0
    private let limits: LaneLimits

    package init(limits: LaneLimits) { self.limits = limits }

    /// True when nothing waits.
    package var isEmpty: Bool { firsts.isEmpty }
    /// The number of waiting transactions, at least 1 if a submission waits.
    package var waiting: Int { firsts.isEmpty ? 0 : max(1, transactions) }

    /// Adds a submission; false when the queue is full.
    package mutating func append(_ submission: Submission, ticket: Ticket) -> Bool {
        guard transactions + submission.entries.count <= limits.queueTransactionsMax,
            bytes + submission.bytes <= limits.queueBytesMax || transactions == 0
        else { return false }
        let element = Element(submission, ticket: ticket)
        count(element, 1)
        if clients.insert(submission.client).inserted {
            firsts.append(element)
        } else {
            others[submission.client, default: []].append(element)
        }
        return true
    }

    /// Takes the next batch: one submission of each client in turn until a bound is reached; at least one submission.
    package mutating func take() -> [Element] {
        var batch: [Element] = []
        batch.reserveCapacity(min(firsts.count, limits.batchClientsMax))
        var (transactionsLeft, mutationsLeft) = (limits.batchTransactionsMax, limits.batchMutationsMax)
        var bytesLeft = limits.batchBytesMax
        // A client that is served and has more moves to the end: the first `clientCount` elements are of different
        // clients.
        let clientCount = firsts.count
        while let next = firsts.first {
            transactionsLeft -= next.submission.entries.count
            mutationsLeft -= next.submission.mutations
            bytesLeft -= next.submission.bytes
            let isClientTaken = batch.count < limits.batchClientsMax || batch.count >= clientCount
            let fits = transactionsLeft >= 0 && mutationsLeft >= 0 && bytesLeft >= 0 && isClientTaken
            guard fits || batch.isEmpty else { break }
            firsts.removeFirst()
            count(next, -1)
            followUp(next.submission.client)
            batch.append(next)
        }
        return batch
    }

    /// Puts back what did not fit into the last batch, in the order in which it was taken. It precedes everything else
    /// that waits of its clients, and they are served next.
    ///
    /// - Parameter cut: the client whose submission was settled in part: it has had its turn and moves to the end.
    package mutating func putBack(_ left: [Element], cut: ClientID? = nil) {
        let behind = clients.intersection(left.map(\.submission.client))
        if !behind.isEmpty {
            for element in firsts where behind.contains(element.submission.client) {
                others[element.submission.client, default: []].prepend(element)
            }
            firsts.removeAll { behind.contains($0.submission.client) }
            clients.subtract(behind)
        }
        for element in left.reversed() {
            count(element, 1)
            let client = element.submission.client
            if !clients.insert(client).inserted,
                let index = firsts.firstIndex(where: { $0.submission.client == client })
            {
                // Of two submissions of one client, the earlier one is handled later here.
                others[client, default: []].prepend(firsts.remove(at: index))
            }
            firsts.prepend(element)
        }
        guard let cut, let index = firsts.firstIndex(where: { $0.submission.client == cut }) else { return }
        firsts.append(firsts.remove(at: index))
    }

    /// Moves the client's next submission to the end, after its first one was taken.
    private mutating func followUp(_ client: ClientID) {
        guard let next = others.isEmpty ? nil : others[client]?.popFirst() else {
            clients.remove(client)
            return
        }
        if others[client]?.isEmpty == true { others[client] = nil }
        firsts.append(next)
    }

    private mutating func count(_ element: Element, _ sign: Int) {
        transactions += sign * element.submission.entries.count
        bytes += sign * element.submission.bytes
    }
}

/// Bounds of one workspace's queue and of the batches taken from it.
package struct LaneLimits: Hashable, Sendable {
    /// The maximum number of transactions in one batch.
    package var batchTransactionsMax = 500
    /// The maximum number of wire bytes in one batch.
    package var batchBytesMax = 1_048_576
    /// The maximum number of mutations in one batch: each may read a record whose size is unknown before.
    package var batchMutationsMax = 1_000
    /// The maximum number of clients in one batch.
    package var batchClientsMax = 256
    /// The number of waiting transactions at which the next batch is taken while one is still being committed.
    package var aheadTransactionsMin = 48
    /// The maximum number of transactions in the queue; more are refused as `overloaded`.
    package var queueTransactionsMax = 50_000
    /// The maximum number of wire bytes in the queue.
    package var queueBytesMax = 64 * 1_048_576
    /// The maximum number of transactions in one submission, so that a busy client shares each batch with the others.
    package var submissionTransactionsMax = 50
    /// The maximum number of mutations in one submission, unless a single transaction has more.
    package var submissionMutationsMax = 250
    /// The bounds of planning one batch.
    package var plan = PlanLimits()
    /// The maximum number of workspaces with a queue; beyond it half of the idle lanes are closed.
    package var lanesMax = 1_024
    /// The maximum number of attempts to commit a batch while the store is unavailable; then its submissions fail as
    /// `unavailable`.
    package var attemptsMax = 12

    package init() {}
}
