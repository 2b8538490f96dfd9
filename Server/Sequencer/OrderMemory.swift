package import TidemarkModel
package import TidemarkStore

/// What a lane remembers of its workspace from the batches that it sent to the store, so that the next need not ask again.
///
/// It is true of one head, which may run ahead of what is stored: a batch counts as soon as it is planned. Whatever changes
/// a client or a member moves the head, so a store that finds the same head under the workspace's lock knows that what is
/// remembered is what is stored.
package struct OrderMemory: Sendable {
    /// Clients and grants as of its head, but no records; `nil` while nothing is remembered.
    private var state: OrderState?
    /// When another node last said that it listens, as of that head.
    package private(set) var heard: Milliseconds?
    /// Batches to come that shall not be planned from memory.
    private var distrust = 0

    package init() {}

    /// The end of the batch that this is true of; `nil` while nothing is remembered.
    package var head: Head? { state?.head }

    /// The remembered client.
    package func client(_ id: ClientID) -> StoredClient? { state?.clients[id] }

    /// The remembered grant; `nil` says nothing about whether there is one.
    package func grant(_ seat: Seat) -> Grant? { state?.grants[seat] }

    /// Remembers nothing.
    package mutating func forget() { (state, heard) = (nil, nil) }

    /// What was remembered proved wrong: forgets it, and is not asked for the next few batches. Another node may be writing
    /// the workspace in turn with this one, and every batch that is planned on the wrong head costs a round trip.
    package mutating func distrustItself() {
        forget()
        distrust = Self.distrustedBatches
    }

    /// Everything that `reads` asks for is remembered, with its births taken for absent.
    package func holds(_ reads: ReadSet) -> Bool {
        guard distrust == 0, let state, reads.records.isEmpty, reads.recordSeats.isEmpty else { return false }
        return reads.clients.allSatisfy { state.clients[$0] != nil }
            && reads.seats.allSatisfy { state.grants[$0] != nil }
    }

    /// What has to be read for a batch that memory alone does not answer. Births are looked at, since there is a question
    /// for the store anyway.
    ///
    /// - Parameter everything: rely on nothing that is remembered.
    package mutating func missing(_ reads: ReadSet, everything: Bool = false) -> ReadSet {
        var missing = reads.lookingAtBirths
        if distrust > 0 || everything { forget() }
        if let known = state, known.clients.count > Self.entriesMax || known.grants.count > Self.entriesMax { forget() }
        guard let state else { return missing }
        missing.clients.removeAll { state.clients[$0] != nil }
        missing.seats.removeAll { state.grants[$0] != nil }
        return missing
    }

    /// Takes over what was read after `missing`.
    ///
    /// - Returns: false when that is of another head than what is remembered: everything has to be read.
    package mutating func take(_ reading: Reading) -> Bool {
        guard state == nil || state?.head == reading.state.head else { return false }
        var found = reading.state
        found.records = [:]
        if state == nil {
            state = found
        } else {
            state?.clients.merge(found.clients) { $1 }
            state?.grants.merge(found.grants) { $1 }
        }
        heard = reading.heard
        return true
    }

    /// What a batch is planned on, with the records that were read for it.
    package func base(with records: [RecordKey: StoredRecord] = [:]) -> OrderState? {
        var base = state
        base?.records = records
        return base
    }

    /// A batch was planned on top of the remembered head: it counts as written, and these are the clients as it leaves them.
    package mutating func planned(_ batch: CommittedBatch, clients settled: [StoredClient]) {
        guard state != nil else { return }
        state?.head = batch.head
        distrust = max(0, distrust - 1)
        for client in settled { state?.clients[client.row.id] = client }
        for client in batch.removals { state?.clients[client] = nil }
        for change in batch.memberships {
            let seat = Seat(user: change.user, scope: change.scope)
            // A role that changes keeps a beginning which may not be known here.
            let since = change.since ?? state?.grants[seat]?.since
            state?.grants[seat] = change.role.flatMap { role in
                since.map { Grant(scope: change.scope, since: $0, role: role) }
            }
        }
    }

    private static let distrustedBatches = 8
    /// Clients, and grants, of one workspace; beyond it all are asked for again.
    private static let entriesMax = 16_384
}
