import TidemarkModel

/// The queue of one workspace: first in, first out within a client, round robin between clients.
package struct LaneQueue<Ticket: Sendable>: Sendable {
    package typealias Element = (submission: Submission, ticket: Ticket)

    private var queues: [ClientID: [Element]] = [:]
    private var order: [ClientID] = []
    private var transactions = 0
    private var bytes = 0
    private let limits: LaneLimits

    package init(limits: LaneLimits) { self.limits = limits }

    /// True when nothing waits.
    package var isEmpty: Bool { order.isEmpty }

    /// Adds a submission; false when the queue is full.
    package mutating func append(_ submission: Submission, ticket: Ticket) -> Bool {
        guard transactions + submission.entries.count <= limits.queueTransactionsMax,
            bytes + submission.bytes <= limits.queueBytesMax || transactions == 0
        else { return false }
        transactions += submission.entries.count
        bytes += submission.bytes
        if queues[submission.client] == nil { order.append(submission.client) }
        queues[submission.client, default: []].append((submission, ticket))
        return true
    }

    /// Takes the next batch: rounds of one submission a client until a bound is reached; at least one submission.
    package mutating func take() -> [Element] {
        var batch: [Element] = []
        var taken = (transactions: 0, bytes: 0)
        var clients: Set<ClientID> = []
        var cursors: [ClientID: Int] = [:]
        var round = order
        var isFull = false
        while !round.isEmpty, !isFull {
            var following: [ClientID] = []
            for client in round {
                let cursor = cursors[client, default: 0]
                guard let queue = queues[client], cursor < queue.count else { continue }
                let element = queue[cursor]
                let count = element.submission.entries.count
                let fits =
                    taken.transactions + count <= limits.batchTransactionsMax
                    && taken.bytes + element.submission.bytes <= limits.batchBytesMax
                    && (clients.contains(client) || clients.count < limits.batchClientsMax)
                guard fits || batch.isEmpty else {
                    isFull = true
                    break
                }
                batch.append(element)
                taken = (taken.transactions + count, taken.bytes + element.submission.bytes)
                clients.insert(client)
                cursors[client] = cursor + 1
                following.append(client)
            }
            round = following
        }
        drop(cursors)
        transactions -= taken.transactions
        bytes -= taken.bytes
        return batch
    }

    /// Removes what was taken; clients that were served and have more go to the end.
    private mutating func drop(_ cursors: [ClientID: Int]) {
        var waiting: [ClientID] = []
        var served: [ClientID] = []
        for client in order {
            guard let count = cursors[client] else {
                waiting.append(client)
                continue
            }
            queues[client]?.removeFirst(count)
            if queues[client]?.isEmpty == false { served.append(client) } else { queues[client] = nil }
        }
        order = waiting + served
    }
}
