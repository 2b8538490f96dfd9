package import TidemarkModel
package import TidemarkSequencer
package import TidemarkWire

/// What a verified token says.
package struct Identity: Hashable, Sendable {
    package var principal: Principal
    package var workspace: WorkspaceID
    /// The token's own end, as clients are told.
    package var expires: Milliseconds
    /// When it is accepted no more: what was open under it ends then. Never before `expires`.
    package var acceptedUntil: Milliseconds

    /// - Parameter acceptedUntil: `nil` for the token's own end.
    package init(
        principal: Principal, workspace: WorkspaceID, expires: Milliseconds, acceptedUntil: Milliseconds? = nil
    ) {
        self.principal = principal
        self.workspace = workspace
        self.expires = expires
        self.acceptedUntil = max(expires, acceptedUntil ?? expires)
    }
}

/// What all sessions of a process share.
package final class SessionContext: Sendable {
    package let serverName: String
    package let schema: SchemaLabel
    package let limits: WireLimits
    package let timing: SessionTiming
    package let admission: Admission
    package let sequencing: LaneLimits
    package let seal: CursorSeal
    package let sharedGrants: [Grant]
    /// Judges a bearer token at a time; `nil` refuses it.
    package let verify: @Sendable (String, Milliseconds) -> Identity?

    package init(
        serverName: String, schema: Schema, limits: WireLimits, timing: SessionTiming = SessionTiming(),
        sequencing: LaneLimits = LaneLimits(), seal: CursorSeal,
        verify: @escaping @Sendable (String, Milliseconds) -> Identity?
    ) {
        self.serverName = serverName
        self.schema = SchemaLabel(schema)
        self.limits = limits
        self.timing = timing
        self.sequencing = sequencing
        self.seal = seal
        self.verify = verify
        admission = Admission(schema: schema, limits: limits.model)
        sharedGrants = schema.sharedScopes.map { Grant(scope: $0, since: 0, role: .member) }
    }
}

/// Times of a session, in milliseconds.
package struct SessionTiming: Hashable, Sendable {
    /// From the upgrade to `hello`.
    package var handshakeMax: Int64 = 5_000
    /// Without an acknowledgement while frames are outstanding.
    package var ackMax: Int64 = 60_000
    /// After which a quiet connection hears how far the order has moved.
    package var progress: Int64 = 10_000
    /// Between the server's pings.
    package var heartbeat: Int64 = 25_000
    /// What a client is told to wait when the store is unavailable.
    package var retry: Int64 = 1_000
    /// Over which a drain spreads the reconnects.
    package var drainSpread: Int64 = 30_000

    package init() {}
}
