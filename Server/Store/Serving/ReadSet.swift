package import TidemarkModel

/// Everything that planning a batch needs to read, named before the lock is taken.
package struct ReadSet: Hashable, Sendable {
    /// A user's membership in the scope of a record, whichever scope that is.
    package struct RecordSeat: Hashable, Sendable {
        package var user: UserID
        package var record: RecordKey

        package init(user: UserID, record: RecordKey) {
            self.user = user
            self.record = record
        }
    }

    /// Each client is returned with its kept outcomes.
    package var clients: [ClientID] = []
    package var records: [RecordKey] = []
    package var seats: [Seat] = []
    package var recordSeats: [RecordSeat] = []
    /// Records that the plan creates before it looks at them, each with the user who creates it. If everything else is
    /// remembered, they are assumed to be absent: a store that finds one when it writes refuses the batch.
    package var births: [RecordSeat] = []

    package init() {}

    /// The same reads with no record assumed to be absent.
    package var lookingAtBirths: ReadSet {
        guard !births.isEmpty else { return self }
        var reads = self
        reads.births = []
        var asked = Set(records)
        for birth in births where asked.insert(birth.record).inserted { reads.records.append(birth.record) }
        reads.recordSeats += births
        return reads
    }
}

/// A user in a scope.
package struct Seat: Hashable, Sendable {
    package var user: UserID
    package var scope: ScopeID

    package init(user: UserID, scope: ScopeID) {
        self.user = user
        self.scope = scope
    }
}

/// The state of a workspace at one head, limited to what was asked for.
package struct OrderState: Hashable, Sendable {
    package var head: Head
    package var clients: [ClientID: StoredClient] = [:]
    package var records: [RecordKey: StoredRecord] = [:]
    /// Grants of the asked seats, and of asked users in the scopes of the asked records.
    package var grants: [Seat: Grant] = [:]

    package init(head: Head) { self.head = head }
}

/// The result of a store's read.
package struct Reading: Sendable {
    package var state: OrderState
    /// The last time at which another node renewed its registration as a listener; `nil` if none did, or no other node
    /// can.
    package var heard: Milliseconds?
    /// The workspace's lock, where several nodes share the store: to be handed back with the batch, or ended.
    package var turn: (any Turn)?

    package init(_ state: OrderState, heard: Milliseconds? = nil, turn: (any Turn)? = nil) {
        self.state = state
        self.heard = heard
        self.turn = turn
    }
}
