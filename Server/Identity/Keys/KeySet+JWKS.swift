import JWTKit
import TidemarkModel

/// The reason why bytes are not a set of keys.
package struct KeyReadingError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

extension KeySet {
    /// Reads a JWK set (RFC 7517 §5). Keys for other purposes, and unknown ones, are left out, each with its
    /// reason: an issuer may publish keys that concern others.
    ///
    /// - Parameter holdsSecrets: whether the operator supplied the set. Elsewhere symmetric keys are left out: anyone
    ///   who can read one could sign with it.
    /// - Throws: ``KeyReadingError`` if it is not a set.
    init(jwks bytes: [UInt8], holdsSecrets: Bool = false) async throws(KeyReadingError) {
        let fields: Fields
        do {
            fields = try JSONReader.read(bytes) { try $0.fields() }
        } catch {
            throw KeyReadingError("no JSON object: \(error)")
        }
        guard case .array(let elements)? = fields["keys"] else { throw KeyReadingError("no member \"keys\"") }
        guard elements.count <= Self.keysMax else {
            throw KeyReadingError("\(elements.count) keys; at most \(Self.keysMax)")
        }
        var (keys, skipped): ([VerificationKey], [String]) = ([], [])
        for element in elements {
            guard case .object(let members) = element else {
                skipped.append("a key that is no object")
                continue
            }
            do throws(KeyReadingError) {
                keys.append(try await Self.key(members, holdsSecrets: holdsSecrets))
            } catch {
                skipped.append("\(members.text("kid").map { "kid \"\($0)\"" } ?? "a key without kid"): \(error)")
            }
        }
        self.init(keys, skipped: skipped)
    }

    private static func key(_ members: Fields, holdsSecrets: Bool) async throws(KeyReadingError) -> VerificationKey {
        if let use = members.text("use"), use != "sig" { throw KeyReadingError("for \(use), not for signatures") }
        if case .array(let uses)? = members["key_ops"], !uses.contains("verify") {
            throw KeyReadingError("not for checking signatures")
        }
        if let id = members.text("kid"), id.utf8.count > CompactToken.keyIDBytesMax {
            throw KeyReadingError("a kid of more than \(CompactToken.keyIDBytesMax) bytes")
        }
        let algorithm = try algorithm(of: members)
        if let named = members.text("alg"), TokenAlgorithm(header: named) != algorithm {
            throw KeyReadingError("for \(named), which is not supported here")
        }
        do {
            return try await key(members, algorithm, holdsSecrets: holdsSecrets)
        } catch let error as KeyReadingError {
            throw error
        } catch {
            throw KeyReadingError("not a key of its type")
        }
    }

    private static func algorithm(of members: Fields) throws(KeyReadingError) -> TokenAlgorithm {
        let curve = members.text("crv") ?? "no curve"
        switch members.text("kty") {
        case "RSA": return .rs256
        case "EC" where curve == "P-256": return .es256
        case "OKP" where curve == "Ed25519": return .edDSA
        case "EC", "OKP": throw KeyReadingError("of the curve \(curve), which is not supported here")
        case "oct": return .hs256
        default: throw KeyReadingError("of a type that is not supported here")
        }
    }

    private static func key(
        _ members: Fields, _ algorithm: TokenAlgorithm, holdsSecrets: Bool
    ) async throws -> VerificationKey {
        let (id, keys) = (members.text("kid"), JWTKeyCollection())
        func part(_ name: String) throws(KeyReadingError) -> String {
            guard let text = members.text(name) else { throw KeyReadingError("without \"\(name)\"") }
            return text
        }
        switch algorithm {
        case .rs256:
            let (modulus, exponent) = (try part("n"), try part("e"))
            // 8192 bits: a larger one would make each check expensive.
            guard modulus.utf8.count <= 1_366, exponent.utf8.count <= 8 else { throw KeyReadingError("too large") }
            await keys.add(
                rsa: try Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent), digestAlgorithm: .sha256)
        case .es256: await keys.add(ecdsa: try ES256PublicKey(parameters: (try part("x"), try part("y"))))
        case .edDSA: await keys.add(eddsa: try EdDSA.PublicKey(x: try part("x"), curve: .ed25519))
        case .hs256:
            guard holdsSecrets else { throw KeyReadingError("a secret that everybody can read") }
            guard let bytes = Base64URL.decode(try part("k").utf8), let secret = TokenSecret(bytes) else {
                throw KeyReadingError("a secret of fewer than \(TokenSecret.bytesMin) bytes")
            }
            return await VerificationKey(secret, id: id)
        }
        return VerificationKey(id: id, algorithm, try await keys.getKey())
    }
}

extension Fields {
    /// Returns a text; `nil` for anything else.
    func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }
}
