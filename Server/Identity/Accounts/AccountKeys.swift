import Crypto
import Foundation
import JWTKit
package import TidemarkModel

/// The keys that sign the tokens of accounts: two derived from each secret, one for access tokens and one for refresh
/// tokens.
///
/// Access tokens are those of an ordinary issuer, whose public key is known here. So there is only one way to check a
/// token.
package struct AccountKeys: Sendable {
    /// The `iss` of the tokens.
    package static let issuerName = "tidemark:accounts"

    private let signer: Curve25519.Signing.PrivateKey
    private let keyID: String
    private let refreshKeys: [SymmetricKey]
    private let lifetime: Duration
    /// The issuer for the verifier of tokens.
    package let issuer: Issuer

    /// - Parameters:
    ///   - secrets: the first signs, all are accepted; at least one.
    ///   - lifetime: the lifetime of an access token.
    package init(_ secrets: [TokenSecret], lifetime: Duration) async throws {
        let signers = try secrets.map { secret in
            try Curve25519.Signing.PrivateKey(rawRepresentation: Self.derived(secret, "access 1"))
        }
        guard let first = signers.first else { throw KeyReadingError("no secret for accounts") }
        var keys: [VerificationKey] = []
        for signer in signers {
            let collection = JWTKeyCollection()
            await collection.add(eddsa: EdDSA.PublicKey(backing: signer.publicKey))
            keys.append(VerificationKey(id: Self.id(of: signer), .edDSA, try await collection.getKey()))
        }
        signer = first
        keyID = Self.id(of: first)
        refreshKeys = secrets.map { SymmetricKey(data: Self.derived($0, "refresh 1")) }
        self.lifetime = lifetime
        issuer = Issuer(
            name: "accounts", issuer: Self.issuerName, algorithms: [.edDSA], keys: KeySet(keys),
            workspace: .claim(ClaimPath("ws")))
    }

    private static func derived(_ secret: TokenSecret, _ purpose: String) -> Data {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: secret.key, info: Data("tidemark accounts \(purpose)".utf8), outputByteCount: 32
        ).withUnsafeBytes { Data($0) }
    }

    private static func id(of key: Curve25519.Signing.PrivateKey) -> String {
        Base64URL.encode(SHA256.hash(data: key.publicKey.rawRepresentation).prefix(9))
    }

    /// Makes an access token for a user.
    ///
    /// - Parameter time: `iat`, to the millisecond, so that a later revocation in the same second applies to it.
    /// - Returns: the token, and its expiry in milliseconds.
    package func access(
        _ user: UserID, in workspace: WorkspaceID, at time: Milliseconds
    ) throws -> (token: String, expires: Milliseconds) {
        let end = time / 1_000 + lifetime.components.seconds
        let claims: Fields = [
            "iss": .string(Self.issuerName), "sub": .string(user.text), "ws": .string(workspace.text),
            "iat": .double(Double(time) / 1_000), "exp": .integer(end),
        ]
        let header: Fields = ["alg": "EdDSA", "kid": .string(keyID), "typ": "JWT"]
        let text = Base64URL.encode(header.canonicalBytes) + "." + Base64URL.encode(claims.canonicalBytes)
        let signature = try signer.signature(for: Data(text.utf8))
        return (text + "." + Base64URL.encode(signature), end * 1_000)
    }

    /// Returns a refresh token as the device gets it.
    package func text(of token: RefreshToken, in workspace: WorkspaceID) -> String {
        // There is a key for each secret, and at least one of them.
        refreshKeys.first.map { token.text(in: workspace, $0) } ?? ""
    }

    /// Reads a refresh token; `nil` for one that was not issued in this workspace.
    package func refreshToken(_ text: String, in workspace: WorkspaceID) -> RefreshToken? {
        RefreshToken(text, in: workspace, refreshKeys)
    }
}
