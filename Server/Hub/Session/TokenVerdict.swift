/// The result of checking a token.
package enum TokenVerdict: Hashable, Sendable {
    case accepted(Identity)
    /// Not accepted; the text is for the sender.
    case refused(String)
    /// The token was valid, and is revoked.
    case revoked(RevokedToken)
    /// The token could not be checked now. It must not be treated as bad: an app would sign its user out.
    case unavailable
}
