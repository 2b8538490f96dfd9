import TidemarkModel
import TidemarkWire

/// The presence of a user in a scope.
enum Presence: Hashable, Sendable {
    /// The user has at least one connection that holds the scope.
    case online
    /// The user has had no connection since that time.
    case seen(Milliseconds)
    /// Nothing is known any more.
    case unknown

    func word(of user: UserID, in scope: ScopeID) -> Ephemeral {
        var payload: Fields = ["online": .boolean(self == .online)]
        if case .seen(let time) = self { payload["seen"] = .integer(time) }
        // Lifetime 0: until the next message, or the connection's end.
        return Ephemeral(scope: scope, user: user, kind: Ephemeral.presence, payload: payload, lifetime: 0)
    }
}
