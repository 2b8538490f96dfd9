/// How a token is signed. Each key is good for one of them alone, so that a token cannot have a public key taken for a secret.
package enum TokenAlgorithm: String, Sendable, CaseIterable {
    case hs256 = "HS256"
    case rs256 = "RS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"

    /// - Parameter name: as in a token's header; RFC 9864 calls EdDSA `Ed25519`.
    init?(header name: String) {
        self.init(rawValue: name == "Ed25519" ? "EdDSA" : name)
    }
}
