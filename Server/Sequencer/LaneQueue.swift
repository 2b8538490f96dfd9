import TidemarkModel

/// The queue of one workspace: first in, first out within a client, round robin between clients.
package struct LaneQueue<Ticket: Sendable>: Sendable {
    package typealias Element = (submission: Submission, ticket: Ticket)

    /// What waits of one client: most often a single submission, which needs no array.
    private struct Line {
        var first: Element
        var others: [Element] = []
        /// How many of them the batch in the making has.
        var taken = 0

        var client: ClientID { first.submission.client }
        var count: Int { 1 + others.count }
        /// The one to take next; there must be one.
        var next: Element { taken == 0 ? first : others[taken - 1] }

        /// Removes what was taken, which is not all of it.
        mutating func dropTaken() {
            first = next
            others.removeFirst(taken)
            taken = 0
        }
    }

    /// In the order of their turns.
    private var lines: [Line] = []
    private var places: [ClientID: Int] = [:]
    private var transactions = 0
    private var bytes = 0
    private let limits: LaneLimits

    package init(limits: LaneLimits) { self.limits = limits }

    /// True when nothing waits.
    package var isEmpty: Bool { lines.isEmpty }
    /// Transactions that wait; a submission without any counts for one.
    package var waiting: Int { lines.isEmpty ? 0 : max(1, transactions) }

    /// Adds a submission; false when the queue is full.
    package mutating func append(_ submission: Submission, ticket: Ticket) -> Bool {
        guard transactions + submission.entries.count <= limits.queueTransactionsMax,
            bytes + submission.bytes <= limits.queueBytesMax || transactions == 0
        else { return false }
        transactions += submission.entries.count
        bytes += submission.bytes
        if let place = places[submission.client] {
            lines[place].others.append((submission, ticket))
        } else {
            places[submission.client] = lines.count
            lines.append(Line(first: (submission, ticket)))
        }
        return true
    }

    /// Takes the next batch: rounds of one submission a client until a bound is reached; at least one submission.
    package mutating func take() -> [Element] {
        var batch: [Element] = []
        batch.reserveCapacity(lines.count)
        var taken = (transactions: 0, bytes: 0, clients: 0)
        var goesOn = true
        while goesOn {
            goesOn = false
            for place in lines.indices where lines[place].taken < lines[place].count {
                let element = lines[place].next
                let count = element.submission.entries.count
                let fits =
                    taken.transactions + count <= limits.batchTransactionsMax
                    && taken.bytes + element.submission.bytes <= limits.batchBytesMax
                    && (lines[place].taken > 0 || taken.clients < limits.batchClientsMax)
                guard fits || batch.isEmpty else {
                    goesOn = false
                    break
                }
                if lines[place].taken == 0 { taken.clients += 1 }
                lines[place].taken += 1
                batch.append(element)
                taken.transactions += count
                taken.bytes += element.submission.bytes
                goesOn = true
            }
        }
        drop()
        transactions -= taken.transactions
        bytes -= taken.bytes
        return batch
    }

    /// Removes what was taken; clients that were served and have more go to the end.
    private mutating func drop() {
        var waiting: [Line] = []
        var served: [Line] = []
        for var line in lines {
            if line.taken == 0 {
                waiting.append(line)
            } else if line.taken < line.count {
                line.dropTaken()
                served.append(line)
            }
        }
        lines = waiting + served
        places.removeAll(keepingCapacity: true)
        for (place, line) in lines.enumerated() { places[line.client] = place }
    }
}
