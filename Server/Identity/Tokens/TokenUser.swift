/// The user that a token names, for messages to people: nothing is verified, so nothing may depend on it.
package enum TokenUser {
    /// Returns the `sub` of a token; `nil` for any other text.
    package static func claimed(by token: String) -> String? {
        do throws(TokenRejection) {
            return try CompactToken(token).claims.text("sub")
        } catch {
            // Not a JWT: the server reports the fault.
            return nil
        }
    }
}
