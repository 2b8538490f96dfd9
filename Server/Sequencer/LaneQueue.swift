package import TidemarkModel

/// The queue of one workspace: first in, first out within a client, round robin between clients.
package struct LaneQueue<Ticket: Sendable>: Sendable {
    package typealias Element = (submission: Submission, ticket: Ticket)

    /// What waits of one client while a batch is made.
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

    /// The oldest submission of each client that has any, in the order of their turns.
    private var firsts: [Element] = []
    /// What waits behind it, of the few clients that have more.
    private var others: [ClientID: [Element]] = [:]
    private var clients: Set<ClientID> = []
    private var transactions = 0
    private var bytes = 0
    private let limits: LaneLimits

    package init(limits: LaneLimits) { self.limits = limits }

    /// True when nothing waits.
    package var isEmpty: Bool { firsts.isEmpty }
    /// Transactions that wait; a submission without any counts for one.
    package var waiting: Int { firsts.isEmpty ? 0 : max(1, transactions) }

    /// Adds a submission; false when the queue is full.
    package mutating func append(_ submission: Submission, ticket: Ticket) -> Bool {
        guard transactions + submission.entries.count <= limits.queueTransactionsMax,
            bytes + submission.bytes <= limits.queueBytesMax || transactions == 0
        else { return false }
        transactions += submission.entries.count
        bytes += submission.bytes
        if clients.insert(submission.client).inserted {
            firsts.append((submission, ticket))
        } else {
            others[submission.client, default: []].append((submission, ticket))
        }
        return true
    }

    /// Gives back what the last batch had no room for, in the order in which it was taken. It stands before whatever else
    /// waits of its clients, and they are the next to be served.
    ///
    /// - Parameter cut: the client of whose submission a part was settled: it has had its turn and goes to the end.
    package mutating func putBack(_ left: [Element], cut: ClientID? = nil) {
        var order: [ClientID] = []
        var back: [ClientID: [Element]] = [:]
        for element in left {
            let client = element.submission.client
            if back[client] == nil { order.append(client) }
            back[client, default: []].append(element)
            transactions += element.submission.entries.count
            bytes += element.submission.bytes
        }
        var behind: [Element] = []
        for element in firsts {
            let client = element.submission.client
            guard back[client] != nil else {
                behind.append(element)
                continue
            }
            back[client]?.append(element)
            back[client]?.append(contentsOf: others.removeValue(forKey: client) ?? [])
        }
        var ahead: [Element] = []
        for client in order {
            guard let elements = back[client], let first = elements.first else { continue }
            if client == cut { behind.append(first) } else { ahead.append(first) }
            if elements.count > 1 { others[client] = Array(elements.dropFirst()) }
            clients.insert(client)
        }
        firsts = ahead + behind
    }

    /// Takes the next batch: rounds of one submission a client until a bound is reached; at least one submission.
    package mutating func take() -> [Element] {
        if let batch = takeAll() { return batch }
        var lines = firsts.map { Line(first: $0, others: others[$0.submission.client] ?? []) }
        var batch: [Element] = []
        batch.reserveCapacity(lines.count)
        var taken = (transactions: 0, bytes: 0, clients: 0, mutations: 0)
        var goesOn = true
        while goesOn {
            goesOn = false
            for place in lines.indices where lines[place].taken < lines[place].count {
                let element = lines[place].next
                let (count, mutations) = (element.submission.entries.count, element.submission.mutations)
                let fits =
                    taken.transactions + count <= limits.batchTransactionsMax
                    && taken.mutations + mutations <= limits.batchMutationsMax
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
                taken.mutations += mutations
                taken.bytes += element.submission.bytes
                goesOn = true
            }
        }
        keep(lines)
        transactions -= taken.transactions
        bytes -= taken.bytes
        return batch
    }

    /// Everything, where each client has one submission and there is room for all of them: what waited is the batch.
    private mutating func takeAll() -> [Element]? {
        guard others.isEmpty, transactions <= limits.batchTransactionsMax, bytes <= limits.batchBytesMax,
            firsts.count <= limits.batchClientsMax,
            firsts.reduce(0, { $0 + $1.submission.mutations }) <= limits.batchMutationsMax
        else { return nil }
        let batch = firsts
        firsts = []
        firsts.reserveCapacity(batch.count)
        clients.removeAll(keepingCapacity: true)
        (transactions, bytes) = (0, 0)
        return batch
    }

    /// Keeps what was not taken; clients that were served and have more go to the end.
    private mutating func keep(_ lines: [Line]) {
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
        firsts.removeAll(keepingCapacity: true)
        others.removeAll(keepingCapacity: true)
        clients.removeAll(keepingCapacity: true)
        for line in waiting + served {
            firsts.append(line.first)
            clients.insert(line.client)
            if !line.others.isEmpty { others[line.client] = line.others }
        }
    }
}
