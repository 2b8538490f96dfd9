public import TidemarkModel
import TidemarkWire

/// A message of another device to the users connected now. It is not stored, here or at the server.
public struct EphemeralMessage: Hashable, Sendable {
    /// The scope of the message.
    public let scope: ScopeID
    /// The user who sent it, as the server knows them; may be the account itself, on another device.
    public let user: UserID
    /// The kind of message, as the app named it.
    public let kind: String
    /// The content that the app wrote; at most 1 KiB.
    public let payload: Fields
    /// The time for which it is valid, from its arrival.
    public let lifetime: Duration

    public init(scope: ScopeID, user: UserID, kind: String, payload: Fields, lifetime: Duration) {
        self.scope = scope
        self.user = user
        self.kind = kind
        self.payload = payload
        self.lifetime = lifetime
    }

    /// Creates the message; `nil` when it names no sender.
    init?(_ message: Ephemeral) {
        guard let user = message.user else { return nil }
        scope = message.scope
        self.user = user
        kind = message.kind
        payload = message.payload
        lifetime = .milliseconds(message.lifetime)
    }
}
