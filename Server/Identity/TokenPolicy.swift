/// What a token must look like to be accepted.
package struct TokenPolicy: Sendable {
    /// Tokens longer than this are refused before anything in them is read.
    package static let tokenBytesMax = 8 * 1024
    /// Bytes of `sub` and of `ws`.
    package static let nameBytesMax = 256

    /// What `iss` must equal; `nil` accepts any, and none.
    package var issuer: String?
    /// What `aud` must equal or contain; `nil` accepts any, and none.
    package var audience: String?
    /// The longest `exp − iat`: bounds the harm of a stolen token.
    package var lifetimeMax: Duration
    /// How far the issuer's clock may be off: so much longer than its `exp` a token is accepted, in handshakes, in calls
    /// over HTTP and on open sockets alike.
    package var clockSkewMax: Duration

    /// The defaults are a day of life and a minute of skew.
    package init(
        issuer: String? = nil, audience: String? = nil, lifetimeMax: Duration = .seconds(24 * 3600),
        clockSkewMax: Duration = .seconds(60)
    ) {
        self.issuer = issuer
        self.audience = audience
        self.lifetimeMax = lifetimeMax
        self.clockSkewMax = clockSkewMax
    }
}
