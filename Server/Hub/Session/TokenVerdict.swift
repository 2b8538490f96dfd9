/// What became of the check of a token.
package enum TokenVerdict: Hashable, Sendable {
    case accepted(Identity)
    /// Not accepted; the words are for whoever sent it.
    case refused(String)
    /// It was good, and counts no more.
    case revoked(RevokedToken)
    /// Whether it is good could not be found out now. Nobody may take it for bad: an app would sign its user out.
    case unavailable
}
