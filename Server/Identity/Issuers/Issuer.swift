import TidemarkModel

/// An issuer whose tokens are accepted, and the rules for reading them.
package struct Issuer: Sendable {
    /// The longest `exp − iat` by default: bounds the harm of a stolen token.
    package static let usualLifetimeMax = Duration.seconds(24 * 3_600)

    /// The name for logs and people.
    package var name: String
    /// The exact `iss`; `nil` for tokens of the server's own secret, whatever their `iss`.
    package var issuer: String?
    /// The claim that names the token's audience, usually `aud`, and the accepted audiences. An empty list
    /// accepts any audience, and none.
    package var audienceClaim = ClaimPath("aud")
    package var audience: [String] = []
    package var algorithms: Set<TokenAlgorithm>
    /// The keys that are configured.
    package var keys: KeySet
    /// The source of further keys; `nil` if all keys are configured.
    package var keySource: KeySource?
    package var user = NameRule.claim(ClaimPath("sub"))
    package var workspace: NameRule
    /// The test for tokens of the operator's programs, which pass every access rule; `nil` for none.
    package var service: ClaimTest?
    /// The test for tokens that may make the calls that concern the whole server; `nil` for none.
    package var operators: ClaimTest?
    /// Further claims that are required.
    package var required: [ClaimTest] = []
    /// Claims that are times and, if present, must not be in the future.
    package var pastTimes: [String] = []
    package var lifetimeMax = Issuer.usualLifetimeMax
    /// The tolerance for the issuer's clock: a token is accepted for so long after its `exp`, in handshakes, in calls
    /// over HTTP and on open sockets alike.
    package var leeway = Duration.seconds(60)

    /// Whether a user of this issuer can have the same name as one of the other's. The server's own secret may name any
    /// user.
    package func canNameUsers(of other: Issuer) -> Bool {
        guard issuer != nil, other.issuer != nil, user.canMeet(other.user) else { return false }
        return workspace.canMeet(other.workspace)
    }

    /// Makes the issuer of the server's own secrets: the first signs, all are accepted.
    package static func own(_ secrets: [TokenSecret]) async -> Issuer {
        var keys: [VerificationKey] = []
        for secret in secrets { keys.append(await VerificationKey(secret)) }
        return Issuer(
            name: "secret", algorithms: [.hs256], keys: KeySet(keys), workspace: .claim(ClaimPath("ws")),
            service: ClaimTest(claim: ClaimPath("svc"), wanted: .value(true)),
            operators: ClaimTest(claim: ClaimPath("op"), wanted: .value(true)))
    }
}

/// The endpoint at which an issuer publishes its keys.
package struct KeySource: Hashable, Sendable, CustomStringConvertible {
    let usesTLS: Bool
    let host: String
    let port: Int
    /// The path with its query, if any.
    let path: String
    /// Addresses and networks that are not public, and to which connections are allowed nevertheless.
    let named: [Network]
    /// The authorities to trust instead of the system's, in PEM.
    let trustRoots: [UInt8]?

    package var description: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return "\(usesTLS ? "https" : "http")://\(host):\(port)\(path)"
    }
}
