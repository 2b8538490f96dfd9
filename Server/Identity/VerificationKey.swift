import JWTKit
import TidemarkModel

/// A key that checks signatures by one algorithm, which the key's type decides and no token can change.
package struct VerificationKey: Sendable {
    /// `kid`; a key without one is tried for every token of its algorithm.
    package let id: String?
    package let algorithm: TokenAlgorithm
    private let check: any JWTAlgorithm

    /// A secret, which signs as well.
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

    /// Synchronous, from any thread; not for an event loop.
    func accepts(_ token: CompactToken) -> Bool {
        do {
            return try check.verify(token.signature, signs: token.signedText)
        } catch {
            // A signature of another length than the algorithm's is an error to the library.
            return false
        }
    }
}

extension TokenSecret {
    /// The secret as jwt-kit signs and checks with it.
    func algorithm() async -> any JWTAlgorithm {
        let keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(key: key), digestAlgorithm: .sha256)
        do {
            return try await keys.getKey()
        } catch {
            // A collection has the key that it was just given.
            preconditionFailure("jwt-kit lost a key: \(error)")
        }
    }
}
