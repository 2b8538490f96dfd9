/// The keys of one issuer.
package struct KeySet: Sendable {
    /// Keys of one set; more are not read.
    static let keysMax = 64
    /// Keys without a `kid`, or for a token without one, that are tried at most: each costs a signature's check.
    static let triedMax = 4

    package let keys: [VerificationKey]
    /// What was found beside them and is no key for tokens, in words.
    package let skipped: [String]

    /// No keys at all.
    package static let none = KeySet([])

    init(_ keys: [VerificationKey], skipped: [String] = []) {
        self.keys = keys
        self.skipped = skipped
    }

    /// Those that a token may have been signed with. A `kid` is final: a key of another name is not tried.
    func candidates(for token: CompactToken, _ algorithm: TokenAlgorithm) -> [VerificationKey] {
        let fitting = keys.filter { key in
            key.algorithm == algorithm && (key.id == nil || token.keyID == nil || key.isNamed(token.keyID))
        }
        return Array(fitting.prefix(Self.triedMax))
    }
}
