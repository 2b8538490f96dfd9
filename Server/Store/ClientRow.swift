package import TidemarkModel

/// What the store knows of one registered client.
package struct ClientRow: Hashable, Sendable {
    package var id: ClientID
    package var user: UserID
    /// The number of its last settled transaction; effects and this number change in one database transaction.
    package var settledThrough: Int64
    /// The client has durably seen the results up to here; they are no longer kept.
    package var ackedThrough: Int64
    /// The highest connection counter seen; pushes with a lower one are ghosts.
    package var connection: Int64

    package init(
        id: ClientID, user: UserID, settledThrough: Int64 = 0, ackedThrough: Int64 = 0, connection: Int64 = 0
    ) {
        self.id = id
        self.user = user
        self.settledThrough = settledThrough
        self.ackedThrough = ackedThrough
        self.connection = connection
    }
}

extension TransactionOutcome {
    /// About what it takes to keep it.
    package var keptBytes: Int {
        96 + (rejection.map { 64 + $0.message.utf8.count } ?? 0) + contested.reduce(0) { $0 + $1.bytes }
    }
}

/// The answer to a registration.
package enum Registration: Hashable, Sendable {
    /// Registered now, or earlier by the same user.
    case registered(ClientRow)
    /// The id belongs to another user.
    case taken
    /// The user has as many clients as `StoreLimits` allow.
    case tooMany
    /// The user registers clients too fast, and may again after so many milliseconds. A node says so, never a store.
    case tooFast(retryAfter: Int64)
}

/// A registered client, as its user is told of it.
package struct RegisteredClient: Hashable, Sendable {
    package var id: ClientID
    /// The number of its last settled transaction; 0 for one that never wrote.
    package var settledThrough: Int64
    package var registered: Milliseconds
    /// When a node last noted that it was there, which is not at each sight; never before `registered`.
    package var seen: Milliseconds

    package init(id: ClientID, settledThrough: Int64, registered: Milliseconds, seen: Milliseconds) {
        self.id = id
        self.settledThrough = settledThrough
        self.registered = registered
        self.seen = max(seen, registered)
    }
}
