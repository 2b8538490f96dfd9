import Foundation

/// What an accepted token says.
package struct VerifiedToken: Sendable, Equatable {
    /// `sub`.
    package var user: String
    /// `ws`: the workspace, the only one that this token opens.
    package var workspace: String
    /// `svc`: whether a program of the operator speaks, rather than a user's device.
    package var isService: Bool
    /// `op`: whether the operator speaks, whose calls concern the whole server.
    package var isOperator: Bool
    /// `exp` in milliseconds since 1970.
    package var expiresAt: Int64
    /// From here on it is accepted nowhere any more: `exp` and the skew that clocks are allowed. An open socket is closed
    /// then.
    package var acceptedUntil: Int64
}

/// Checks HS256 tokens. Synchronous and without locks: made for event loops, free to call from any thread.
///
/// jwt-kit keeps its keys in an actor, so that each check there is a suspension, and chooses the algorithm by what it
/// finds in the token. One HMAC over swift-crypto, with the algorithm fixed here, needs neither.
package struct TokenVerifier: Sendable {
    private let secrets: [TokenSecret]
    private let policy: TokenPolicy
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - secret: the secret that tokens are signed with.
    ///   - previousSecrets: still accepted, while clients fetch new tokens after a change of the secret.
    ///   - now: milliseconds since 1970.
    package init(
        secret: TokenSecret, previousSecrets: [TokenSecret] = [], policy: TokenPolicy = TokenPolicy(),
        now: @escaping @Sendable () -> Int64
    ) {
        secrets = [secret] + previousSecrets
        self.policy = policy
        self.now = now
    }

    /// Accepts a token or says what is wrong with it.
    ///
    /// Nothing but the header is interpreted before the signature is known to be ours.
    package func verify(_ token: String) throws(TokenRejection) -> VerifiedToken {
        let compact = try CompactToken(token)
        try compact.checkHeader()
        guard secrets.contains(where: { $0.accepts(compact.signature, of: compact.signedText) }) else {
            throw .signature
        }
        let claims: TokenClaims
        do {
            claims = try JSONDecoder().decode(TokenClaims.self, from: Data(compact.claims))
        } catch {
            throw .claims
        }
        try checkTimes(claims)
        if let issuer = policy.issuer, claims.iss != issuer { throw .issuer }
        if let audience = policy.audience, claims.aud?.names(audience) != true { throw .audience }
        guard Self.isName(claims.sub), Self.isName(claims.ws) else { throw .claims }
        return VerifiedToken(
            user: claims.sub, workspace: claims.ws, isService: claims.svc ?? false, isOperator: claims.op ?? false,
            expiresAt: Int64(claims.exp * 1000),
            acceptedUntil: Int64((claims.exp + policy.clockSkewMax / .seconds(1)) * 1000))
    }

    private func checkTimes(_ claims: TokenClaims) throws(TokenRejection) {
        for time in [claims.exp, claims.iat, claims.nbf ?? 0] {
            // Up to the year 9999: nothing further down can overflow.
            guard time.isFinite, (0...253_402_300_799).contains(time) else { throw .claims }
        }
        let now = Double(now()) / 1000
        let skew = policy.clockSkewMax / .seconds(1)
        guard claims.iat <= now + skew, (claims.nbf ?? 0) <= now + skew else { throw .notYetValid }
        guard claims.exp > now - skew else { throw .expired }
        let lifetime = claims.exp - claims.iat
        guard lifetime > 0, lifetime <= policy.lifetimeMax / .seconds(1) else { throw .lifetime }
    }

    private static func isName(_ text: String) -> Bool {
        (1...TokenPolicy.nameBytesMax).contains(text.utf8.count)
    }
}
