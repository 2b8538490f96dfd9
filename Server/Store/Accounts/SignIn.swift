package import TidemarkModel

/// A device that is signed in by an account: the count of its refresh tokens, none of which is kept itself. A pure
/// value.
///
/// Each token has a number, and using it returns the next one. If that answer is lost, the device presents the same
/// token again and gets the same next one. An older token that is presented again was used by two parties, one of whom
/// is a thief.
package struct SignIn: Hashable, Sendable {
    package var user: UserID
    package var client: ClientID
    /// Distinguishes this sign-in from the device's earlier ones; random.
    package var nonce: Int64
    /// The number of the last token that was issued.
    package var counter: Int64
    /// The `iat` of its first token: revocations up to this time do not affect its tokens.
    package var began: Milliseconds
    /// The time at which a token was last exchanged for the next one.
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

    /// The maximum number of signed-in devices of one user; one more ends the sign-in that was used longest ago.
    package static let perUserMax = 100

    /// The result of using a token.
    package enum Use: Hashable, Sendable {
        /// It is the last one, and was accepted: the next one has the number of ``SignIn/counter``.
        case taken
        /// It was used before, and the answer did not arrive: the same next one again. Nothing has changed.
        case again
        /// It is older: another party has a copy.
        case stale
    }

    /// Uses a token of this number.
    ///
    /// A token with a later number than the stored one was issued before the database went back. It is valid, or a
    /// restored backup would sign everybody out.
    package mutating func use(_ number: Int64, now: Milliseconds) -> Use {
        if number < counter { return number == counter - 1 ? .again : .stale }
        guard number < .max else { return .stale }
        counter = number + 1
        used = max(used, now)
        return .taken
    }

    /// Returns whether the sign-in has expired: no token was used for more than `idle` milliseconds.
    package func isOver(after idle: Int64, now: Milliseconds) -> Bool { now - used > idle }
}
