/// The algorithm of a signature. Each key is valid for only one, so that no token can have a public key used as a
/// secret.
package enum TokenAlgorithm: String, Sendable, CaseIterable {
    case hs256 = "HS256"
    case rs256 = "RS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"

    /// - Parameter name: the name in a token's header; RFC 9864 calls EdDSA `Ed25519`.
    init?(header name: String) {
        self.init(rawValue: name == "Ed25519" ? "EdDSA" : name)
    }
}
