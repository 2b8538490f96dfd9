import JWTKit
import TidemarkModel

/// A key that checks signatures by one algorithm, which the key's type decides and no token can change.
package struct VerificationKey: Sendable {
    /// `kid`; a key without one is tried for every token of its algorithm.
    package let id: String?
    package let algorithm: TokenAlgorithm
    private let check: any JWTAlgorithm

    /// Makes a key of a secret, which can sign as well.
    init(_ secret: TokenSecret, id: String? = nil) async {
        self.init(id: id, .hs256, await secret.algorithm())
    }

    init(id: String?, _ algorithm: TokenAlgorithm, _ check: any JWTAlgorithm) {
        self.id = id
        self.algorithm = algorithm
        self.check = check
    }

    func isNamed(_ id: String?) -> Bool {
        guard let id, let own = self.id else { return false }
        return own.hasSameBytes(as: id)
    }

    /// Whether this key has signed a token. Synchronous, any thread; not for an event loop.
    func accepts(_ token: CompactToken) -> Bool {
        do {
            return try check.verify(token.signature, signs: token.signedText)
        } catch {
            // The library throws for a signature of another length than the algorithm's.
            return false
        }
    }
}

extension TokenSecret {
    /// Returns the secret as the algorithm with which jwt-kit signs and checks.
    func algorithm() async -> any JWTAlgorithm {
        let keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(key: key), digestAlgorithm: .sha256)
        do {
            return try await keys.getKey()
        } catch {
            // The collection has the key that it was just given.
            preconditionFailure("jwt-kit lost a key: \(error)")
        }
    }
}
