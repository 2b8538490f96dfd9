import Foundation
import JWTKit

extension KeySet {
    /// Reads public keys and certificates in PEM, one after the other. They have no `kid`, and are tried for every
    /// token of their algorithm.
    ///
    /// - Throws: ``KeyReadingError`` for a block that is not a public key of a known type; nothing is left out.
    init(pem text: String) async throws(KeyReadingError) {
        var (keys, block): ([VerificationKey], [Substring]) = ([], [])
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("-----BEGIN ") { block = [] }
            block.append(line)
            guard line.hasPrefix("-----END ") else { continue }
            guard keys.count < Self.triedMax else { throw KeyReadingError("more than \(Self.triedMax) keys in PEM") }
            keys.append(try await Self.key(pem: block.joined(separator: "\n")))
            block = []
        }
        guard !keys.isEmpty else { throw KeyReadingError("no key in PEM") }
        self.init(keys)
    }

    private static func key(pem: String) async throws(KeyReadingError) -> VerificationKey {
        guard !pem.contains("PRIVATE KEY") else {
            throw KeyReadingError("a private key; only the public half belongs here")
        }
        let isCertificate = pem.hasPrefix("-----BEGIN CERTIFICATE")
        let keys = JWTKeyCollection()
        for algorithm in [TokenAlgorithm.rs256, .es256, .edDSA] {
            do {
                switch algorithm {
                case .rs256:
                    let key =
                        try isCertificate
                        ? Insecure.RSA.PublicKey(certificatePEM: pem) : Insecure.RSA.PublicKey(pem: pem)
                    await keys.add(rsa: key, digestAlgorithm: .sha256)
                case .es256:
                    await keys.add(
                        ecdsa: try isCertificate ? ES256PublicKey(certificate: pem) : ES256PublicKey(pem: pem))
                case .edDSA: await keys.add(eddsa: try EdDSA.PublicKey(pem: pem))
                case .hs256: continue
                }
                return VerificationKey(id: nil, algorithm, try await keys.getKey())
            } catch {
                // It may be a key of another type.
                continue
            }
        }
        throw KeyReadingError("no public key of RSA (2048 bits or more), P-256 or Ed25519")
    }
}
