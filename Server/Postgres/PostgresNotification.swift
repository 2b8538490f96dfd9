/// What a `NOTIFY` carried.
package struct PostgresNotification: Sendable, Equatable {
    package let channel: String
    /// Under 8,000 bytes; empty if the sender gave none.
    package let payload: String
}

/// What a ``PostgresListener`` tells its owner.
package enum PostgresListenerEvent: Sendable, Equatable {
    case notification(PostgresNotification)
    /// Listening began, for the first time or again: poll once, since earlier notifications may have been missed.
    case reconnected
    /// The owner was too slow and notifications were dropped: poll once.
    case overflowed
}
