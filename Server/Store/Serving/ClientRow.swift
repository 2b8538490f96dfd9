package import TidemarkModel

/// A registered client as the store keeps it.
package struct ClientRow: Hashable, Sendable {
    package var id: ClientID
    package var user: UserID
    /// The number of its last settled transaction; effects and this number change in one database transaction.
    package var settledThrough: Int64
    /// The number up to which the client has durably seen the results; they are no longer kept.
    package var ackedThrough: Int64
    /// The highest connection counter seen. Pushes with a lower one come from an older connection and are refused
    ///
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
    /// The bytes that keeping the outcome costs, approximately.
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
    /// The user registers clients too fast and may register again after this number of milliseconds. Only nodes return
    /// this, never a store.
    case tooFast(retryAfter: Int64)
}

/// A registered client as its user sees it in a list.
package struct RegisteredClient: Hashable, Sendable {
    package var id: ClientID
    /// The number of its last settled transaction; 0 for one that never wrote.
    package var settledThrough: Int64
    package var registered: Milliseconds
    /// The last time at which a node noted the client's presence, never before `registered`. Not every connection is
    /// noted.
    package var seen: Milliseconds

    package init(id: ClientID, settledThrough: Int64, registered: Milliseconds, seen: Milliseconds) {
        self.id = id
        self.settledThrough = settledThrough
        self.registered = registered
        self.seen = max(seen, registered)
    }
}
