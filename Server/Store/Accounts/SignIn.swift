package import TidemarkModel

/// A device that is signed in by an account: the count of its refresh tokens, of which none is kept itself. A pure value.
///
/// Each token has a number, and using it gives the next one. The answer to that may be lost on its way, and then the device comes
/// with the same token again: it gets the same next one. A token from before that was used twice by two parties, of whom one is a
/// thief.
package struct SignIn: Hashable, Sendable {
    package var user: UserID
    package var client: ClientID
    /// Tells this one from those of the device before; random.
    package var nonce: Int64
    /// The number of the last token that was given out.
    package var counter: Int64
    /// Tokens that were revoked until here are not its own: the `iat` of its first.
    package var began: Milliseconds
    /// When a token was taken for the next one.
    package var used: Milliseconds

    package init(
        user: UserID, client: ClientID, nonce: Int64, counter: Int64 = 1, began: Milliseconds,
        used: Milliseconds? = nil
    ) {
        self.user = user
        self.client = client
        self.nonce = nonce
        self.counter = counter
        self.began = began
        self.used = used ?? began
    }

    /// So many devices of one user are signed in; one more ends the one that was used longest ago.
    package static let perUserMax = 100

    /// What a token is worth.
    package enum Use: Hashable, Sendable {
        /// It is the last one, and was taken: the next one has the number of ``SignIn/counter``.
        case taken
        /// It was taken before, and the answer did not arrive: the same next one again. Nothing has changed.
        case again
        /// It is older: somebody has a copy.
        case stale
    }

    /// Takes a token of this number.
    ///
    /// One with a later number than any that is known was given out all the same, and the database has gone back since: it is
    /// good, or a restored backup would sign everybody out.
    package mutating func use(_ number: Int64, now: Milliseconds) -> Use {
        if number < counter { return number == counter - 1 ? .again : .stale }
        guard number < .max else { return .stale }
        counter = number + 1
        used = max(used, now)
        return .taken
    }

    /// Nobody came for so many milliseconds that it is over.
    package func isOver(after idle: Int64, now: Milliseconds) -> Bool { now - used > idle }
}
