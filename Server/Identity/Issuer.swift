import TidemarkModel

/// Somebody whose tokens are accepted, and what is read from them.
package struct Issuer: Sendable {
    /// The longest `exp − iat` where nothing else is said: bounds the harm of a stolen token.
    package static let usualLifetimeMax = Duration.seconds(24 * 3_600)

    /// For logs and people.
    package var name: String
    /// What `iss` must equal, to the byte; `nil` is for tokens of the server's own secret, whatever they say.
    package var issuer: String?
    /// The claim that names whom a token is for, usually `aud`, and the names of which one must stand there. No name at all
    /// accepts any, and none.
    package var audienceClaim = ClaimPath("aud")
    package var audience: [String] = []
    package var algorithms: Set<TokenAlgorithm>
    /// Keys that are given.
    package var keys: KeySet
    /// Where more keys are; `nil` for those that are given alone.
    package var keySource: KeySource?
    package var user = NameRule.claim(ClaimPath("sub"))
    package var workspace: NameRule
    /// What makes a token one of a program of the operator, which passes every access rule; `nil` for none.
    package var service: ClaimTest?
    /// What opens the calls that concern the whole server; `nil` for none.
    package var operators: ClaimTest?
    /// What must hold besides.
    package var required: [ClaimTest] = []
    /// Claims that are times and must not lie in the future, where they are there.
    package var pastTimes: [String] = []
    package var lifetimeMax = Issuer.usualLifetimeMax
    /// How far the issuer's clock may be off: so much longer than its `exp` a token is accepted, in handshakes, in calls over
    /// HTTP and on open sockets alike.
    package var leeway = Duration.seconds(60)

    /// Whether a user of this issuer can have the name of one of the other's. The server's own secret may name anybody.
    package func canNameUsers(of other: Issuer) -> Bool {
        guard issuer != nil, other.issuer != nil, user.canMeet(other.user) else { return false }
        return workspace.canMeet(other.workspace)
    }

    /// The server's own secret: the first signs, all are accepted.
    package static func own(_ secrets: [TokenSecret]) async -> Issuer {
        var keys: [VerificationKey] = []
        for secret in secrets { keys.append(await VerificationKey(secret)) }
        return Issuer(
            name: "secret", algorithms: [.hs256], keys: KeySet(keys), workspace: .claim(ClaimPath("ws")),
            service: ClaimTest(claim: ClaimPath("svc"), wanted: .value(true)),
            operators: ClaimTest(claim: ClaimPath("op"), wanted: .value(true)))
    }
}

/// Where an issuer publishes its keys.
package struct KeySource: Hashable, Sendable, CustomStringConvertible {
    let usesTLS: Bool
    let host: String
    let port: Int
    /// With its query, if any.
    let path: String
    /// Addresses and networks that are not public and may be connected to all the same.
    let named: [Network]
    /// The authorities to trust instead of the system's, in PEM.
    let trustRoots: [UInt8]?

    package var description: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return "\(usesTLS ? "https" : "http")://\(host):\(port)\(path)"
    }
}
