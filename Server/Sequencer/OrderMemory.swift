package import TidemarkModel
package import TidemarkStore

/// A lane's memory of its workspace, from the batches that it sent to the store, so that the next one need not read
/// again.
///
/// It is the state at one head, which may be ahead of the stored one: a batch is included as soon as it is planned.
/// Every change of a client or a member moves the head. So if a store finds the same head under the workspace's lock,
/// the memory equals the stored state.
package struct OrderMemory: Sendable {
    /// Clients and grants as of its head, without records; `nil` while nothing is remembered.
    private var state: OrderState?
    /// The last time at which another node renewed its registration as a listener, as of that head.
    package private(set) var heard: Milliseconds?
    /// The number of batches to come that must not be planned from memory.
    private var distrust = 0

    package init() {}

    /// The head whose state is remembered; `nil` while nothing is.
    package var head: Head? { state?.head }

    /// Returns the remembered client.
    package func client(_ id: ClientID) -> StoredClient? { state?.clients[id] }

    /// Returns the remembered grant; `nil` does not mean that there is none.
    package func grant(_ seat: Seat) -> Grant? { state?.grants[seat] }

    /// Forgets everything.
    package mutating func forget() { (state, heard) = (nil, nil) }

    /// Forgets everything, since it proved wrong, and plans the next few batches without memory. Another node may be
    /// writing the workspace in turn with this one, and every batch that is planned on the wrong head costs a round
    /// trip.
    package mutating func distrustItself() {
        forget()
        distrust = Self.distrustedBatches
    }

    /// Returns whether everything that `reads` asks for is remembered, with its births assumed to be absent.
    package func holds(_ reads: ReadSet) -> Bool {
        guard distrust == 0, let state, reads.records.isEmpty, reads.recordSeats.isEmpty else { return false }
        return reads.clients.allSatisfy { state.clients[$0] != nil }
            && reads.seats.allSatisfy { state.grants[$0] != nil }
    }

    /// Returns what must be read for a batch that memory alone cannot answer. It includes the births, since the store
    /// is asked anyway.
    ///
    /// - Parameter everything: whether to ignore all that is remembered.
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
    /// - Returns: false when the reading is of another head than the memory: everything must be read.
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

    /// Returns the state on which a batch is planned, with the records that were read for it.
    package func base(with records: [RecordKey: StoredRecord] = [:]) -> OrderState? {
        var base = state
        base?.records = records
        return base
    }

    /// Treats a batch as written that was planned on the remembered head; `settled` are its clients with its effects.
    package mutating func planned(_ batch: CommittedBatch, clients settled: [StoredClient]) {
        guard state != nil else { return }
        state?.head = batch.head
        distrust = max(0, distrust - 1)
        for client in settled { state?.clients[client.row.id] = client }
        for client in batch.removals { state?.clients[client] = nil }
        for change in batch.memberships {
            let seat = Seat(user: change.user, scope: change.scope)
            // A change of role keeps the beginning, which may be unknown here.
            let since = change.since ?? state?.grants[seat]?.since
            state?.grants[seat] = change.role.flatMap { role in
                since.map { Grant(scope: change.scope, since: $0, role: role) }
            }
        }
    }

    private static let distrustedBatches = 8
    /// The maximum number of clients, and of grants, of one workspace; beyond it all are read again.
    private static let entriesMax = 16_384
}
