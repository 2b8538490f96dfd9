package import TidemarkModel

/// What a node remembers of a workspace from the batches that it committed itself, so that the next need not ask again.
///
/// It is true of one head. Whatever changes a client or a member moves the head, so a store that finds the same head
/// under the workspace's lock knows that what is remembered is what is stored; finding another, it must ``forget()``.
package struct OrderMemory: Sendable {
    /// The end of the batch that this is true of; `nil` while nothing is remembered.
    package private(set) var head: Head?
    /// When another node last said that it listens, as of that head.
    package private(set) var heard: Milliseconds?
    private var clients: [ClientID: StoredClient] = [:]
    private var grants: [Seat: Grant] = [:]
    /// Batches to come that shall not be planned from memory.
    private var doubts = 0

    package init() {}

    /// The remembered client.
    package func client(_ id: ClientID) -> StoredClient? { clients[id] }

    /// The remembered grant; `nil` says nothing about whether there is one.
    package func grant(_ seat: Seat) -> Grant? { grants[seat] }

    /// Remembers nothing.
    package mutating func forget() { self = OrderMemory() }

    /// What was remembered proved wrong: forgets it, and answers nothing for the next few batches. Another node may be
    /// writing the workspace in turn with this one, and every wrong guess costs a round trip.
    package mutating func doubt() {
        forget()
        doubts = Self.doubtfulBatches
    }

    /// Takes what a step found under the lock, at `head`; what was remembered of another head goes.
    package mutating func found(
        at head: Head, heard: Milliseconds?, clients found: some Sequence<StoredClient>, grants: [Seat: Grant]
    ) {
        if self.head != head {
            let doubts = doubts
            forget()
            self.doubts = doubts
        }
        (self.head, self.heard) = (head, heard)
        for client in found { clients[client.row.id] = client }
        self.grants.merge(grants) { $1 }
        bound()
    }

    /// The batch was committed on top of the remembered head, and these are the clients as it left them.
    package mutating func committed(_ batch: CommittedBatch, clients settled: some Sequence<StoredClient>) {
        head = batch.head
        doubts = max(0, doubts - 1)
        for client in settled { clients[client.row.id] = client }
        for client in batch.removals { clients[client] = nil }
        for change in batch.memberships {
            let seat = Seat(user: change.user, scope: change.scope)
            // A role that changes keeps a beginning which may not be known here.
            let since = change.since ?? grants[seat]?.since
            grants[seat] = change.role.flatMap { role in
                since.map { Grant(scope: change.scope, since: $0, role: role) }
            }
        }
        bound()
    }

    /// Everything that `reads` asks for, with its births taken for absent; `nil` when any of it is not remembered.
    package func answer(_ reads: ReadSet) -> ReadResult? {
        guard doubts == 0, let head, reads.records.isEmpty, reads.recordSeats.isEmpty else { return nil }
        var found = ReadResult(head: head)
        found.clients.reserveCapacity(reads.clients.count)
        found.grants.reserveCapacity(reads.seats.count)
        for range in reads.clients {
            guard let client = clients[range.client] else { return nil }
            found.take(client, range)
        }
        for seat in reads.seats {
            guard let grant = grants[seat] else { return nil }
            found.grants[seat] = grant
        }
        return found
    }

    private mutating func bound() {
        if clients.count > Self.entriesMax { clients.removeAll(keepingCapacity: true) }
        if grants.count > Self.entriesMax { grants.removeAll(keepingCapacity: true) }
    }

    private static let doubtfulBatches = 8
    /// Clients, and grants, of one workspace; beyond it all are asked for again.
    private static let entriesMax = 16_384
}

extension ReadResult {
    /// Takes over one asked client with its outcomes in the range.
    package mutating func take(_ client: StoredClient, _ range: ReadSet.ClientRange) {
        clients[range.client] = client.row
        if client.kept.count > StoredClient.keptFew { kept[range.client] = client.kept }
        guard range.first <= client.row.settledThrough else { return }
        for result in client.kept where result.number >= range.first && result.number <= range.last {
            results[range.client, default: [:]][result.number] = result
        }
    }
}
