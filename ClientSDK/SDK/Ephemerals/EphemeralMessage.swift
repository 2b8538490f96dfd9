public import TidemarkModel
import TidemarkWire

/// Something that another device said to those who are connected now. Nothing of it is stored, here or at the server.
public struct EphemeralMessage: Hashable, Sendable {
    /// Where it was said.
    public let scope: ScopeID
    /// Who said it, as the server knows them; may be the account itself, on another device.
    public let user: UserID
    /// What it is about, as the app named it.
    public let kind: String
    /// As the app wrote it; at most 1 KiB.
    public let payload: Fields
    /// For how long it means something, from its arrival.
    public let lifetime: Duration

    public init(scope: ScopeID, user: UserID, kind: String, payload: Fields, lifetime: Duration) {
        self.scope = scope
        self.user = user
        self.kind = kind
        self.payload = payload
        self.lifetime = lifetime
    }

    /// `nil` when it does not say who said it.
    init?(_ message: Ephemeral) {
        guard let user = message.user else { return nil }
        scope = message.scope
        self.user = user
        kind = message.kind
        payload = message.payload
        lifetime = .milliseconds(message.lifetime)
    }
}
