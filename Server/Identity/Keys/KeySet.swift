/// The keys of one issuer.
package struct KeySet: Sendable {
    /// The greatest number of keys in one set; larger sets are refused.
    static let keysMax = 64
    /// Keys without a `kid`, or for a token without one, that are tried at most: each costs a signature's check.
    static let triedMax = 4

    package let keys: [VerificationKey]
    /// The entries that are not keys for tokens, with the reasons.
    package let skipped: [String]

    /// No keys at all.
    package static let none = KeySet([])

    init(_ keys: [VerificationKey], skipped: [String] = []) {
        self.keys = keys
        self.skipped = skipped
    }

    /// Returns the keys that may have signed a token. A `kid` is final: a key of another name is not tried.
    func candidates(for token: CompactToken, _ algorithm: TokenAlgorithm) -> [VerificationKey] {
        let fitting = keys.filter { key in
            key.algorithm == algorithm && (key.id == nil || token.keyID == nil || key.isNamed(token.keyID))
        }
        return Array(fitting.prefix(Self.triedMax))
    }
}
