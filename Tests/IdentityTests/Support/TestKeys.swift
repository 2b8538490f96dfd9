import Crypto
import CryptoExtras
import Foundation
import JWTKit
import TidemarkModel

@testable import TidemarkIdentity

/// A key of the tests: it signs any header and claims, and has the public half in an issuer's form.
struct TestKey: Sendable {
    let id: String?
    let algorithm: String
    private let signer: any JWTAlgorithm
    /// The members of its JWK.
    let jwk: String
    /// The key in PEM; `nil` for a secret.
    let pem: String?

    /// A shared key: making one takes a while.
    static let rsa = try? rsaKey("rsa-1")
    static let otherRSA = try? rsaKey("rsa-2")

    static func rsaKey(_ id: String?) throws -> TestKey {
        let backing = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let key = try Insecure.RSA.PrivateKey(pem: backing.pemRepresentation)
        let (n, e) = try key.publicKey.getKeyPrimitives()
        return try TestKey(
            id, "RS256", RSATestSigner(key: backing), key.publicKey.pemRepresentation,
            #""kty":"RSA","n":"\#(Base64URL.encode(n))","e":"\#(Base64URL.encode(e))""#)
    }

    static func es256(_ id: String?) throws -> TestKey {
        let key = P256.Signing.PrivateKey()
        let raw = Array(key.publicKey.rawRepresentation)
        return try TestKey(
            id, "ES256", P256TestSigner(key: key), key.publicKey.pemRepresentation,
            #""kty":"EC","crv":"P-256","x":"\#(Base64URL.encode(raw[..<32]))","y":"\#(Base64URL.encode(raw[32...]))""#)
    }

    static func edDSA(_ id: String?) throws -> TestKey {
        let key = Curve25519.Signing.PrivateKey()
        return try TestKey(
            id, "EdDSA", Ed25519TestSigner(key: key), key.publicKey.pemRepresentation,
            #""kty":"OKP","crv":"Ed25519","x":"\#(Base64URL.encode(key.publicKey.rawRepresentation))""#)
    }

    static func hs256(_ bytes: [UInt8], _ id: String? = nil) throws -> TestKey {
        try TestKey(
            id, "HS256", HMACTestSigner(key: SymmetricKey(data: bytes)), nil,
            #""kty":"oct","k":"\#(Base64URL.encode(bytes))""#)
    }

    private init(_ id: String?, _ algorithm: String, _ signer: any JWTAlgorithm, _ pem: String?, _ jwk: String) throws {
        self.id = id
        self.algorithm = algorithm
        self.signer = signer
        self.pem = pem
        self.jwk = "{" + (id.map { #""kid":"\#($0)","# } ?? "") + jwk + "}"
    }

    /// A JWK set of some keys.
    static func set(_ keys: TestKey...) -> String { #"{"keys":[\#(keys.map(\.jwk).joined(separator: ","))]}"# }

    /// Signs claims with its own header, or with the given one.
    func sign(_ claims: String, header: String? = nil) throws -> String {
        let own = #"{"alg":"\#(algorithm)","typ":"JWT"\#(id.map { #","kid":"\#($0)""# } ?? "")}"#
        let text = Base64URL.encode((header ?? own).utf8) + "." + Base64URL.encode(claims.utf8)
        return text + "." + Base64URL.encode(try signer.sign(Array(text.utf8)))
    }
}

private struct RSATestSigner: JWTAlgorithm {
    let name = "RS256"
    let key: _RSA.Signing.PrivateKey

    func sign(_ plaintext: some DataProtocol) throws -> [UInt8] {
        Array(try key.signature(for: SHA256.hash(data: plaintext), padding: .insecurePKCS1v1_5).rawRepresentation)
    }
    func verify(_ signature: some DataProtocol, signs plaintext: some DataProtocol) throws -> Bool { false }
}

private struct P256TestSigner: JWTAlgorithm {
    let name = "ES256"
    let key: P256.Signing.PrivateKey

    func sign(_ plaintext: some DataProtocol) throws -> [UInt8] {
        Array(try key.signature(for: plaintext).rawRepresentation)
    }
    func verify(_ signature: some DataProtocol, signs plaintext: some DataProtocol) throws -> Bool { false }
}

private struct Ed25519TestSigner: JWTAlgorithm {
    let name = "EdDSA"
    let key: Curve25519.Signing.PrivateKey

    func sign(_ plaintext: some DataProtocol) throws -> [UInt8] { Array(try key.signature(for: plaintext)) }
    func verify(_ signature: some DataProtocol, signs plaintext: some DataProtocol) throws -> Bool { false }
}

private struct HMACTestSigner: JWTAlgorithm {
    let name = "HS256"
    let key: SymmetricKey

    func sign(_ plaintext: some DataProtocol) throws -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: plaintext, using: key))
    }
    func verify(_ signature: some DataProtocol, signs plaintext: some DataProtocol) throws -> Bool { false }
}
