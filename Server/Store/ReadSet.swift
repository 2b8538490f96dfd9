package import TidemarkModel

/// Everything that planning a batch needs to know, named before the lock is taken.
package struct ReadSet: Hashable, Sendable {
    /// A client with the transaction numbers it pushes: kept results in that range come back with it.
    package struct ClientRange: Hashable, Sendable {
        package var client: ClientID
        package var first: Int64
        package var last: Int64

        package init(client: ClientID, first: Int64, last: Int64) {
            self.client = client
            self.first = first
            self.last = last
        }
    }

    /// The membership of a user in the scope of a record, whichever scope that is.
    package struct RecordSeat: Hashable, Sendable {
        package var user: UserID
        package var record: RecordKey

        package init(user: UserID, record: RecordKey) {
            self.user = user
            self.record = record
        }
    }

    package var clients: [ClientRange] = []
    package var records: [RecordKey] = []
    package var seats: [Seat] = []
    package var recordSeats: [RecordSeat] = []
    /// Records that the plan creates before it looks at them, each with the user who does. A store may take them for
    /// absent without looking, if it fails to write one that is there and then plans again with what it reads.
    package var births: [RecordSeat] = []

    package init() {}

    /// The same with nothing taken for absent.
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

/// What the store found, read after the workspace was locked.
package struct ReadResult: Sendable {
    package var head: Head
    /// Other server nodes follow this workspace and need the batch's body.
    package var hasListeners = false
    package var clients: [ClientID: ClientRow] = [:]
    /// Kept results of the asked ranges, by client and number.
    package var results: [ClientID: [Int64: ResultRow]] = [:]
    /// All kept results of asked clients that have more than ``StoredClient/keptFew``.
    package var kept: [ClientID: [ResultRow]] = [:]
    package var records: [RecordKey: StoredRecord] = [:]
    /// Current grants of the asked seats, and of asked users in the scopes of the asked records.
    package var grants: [Seat: Grant] = [:]

    package init(head: Head) { self.head = head }
}
