/// Whose token a text says to be, for messages to people: nothing is verified, so nothing may depend on it.
package enum TokenUser {
    /// `nil` for what is no token that names its user by `sub`.
    package static func claimed(by token: String) -> String? {
        do throws(TokenRejection) {
            return try CompactToken(token).claims.text("sub")
        } catch {
            // Another kind of token, or none: the server says what is wrong with it.
            return nil
        }
    }
}
