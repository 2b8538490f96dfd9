import Crypto
import Foundation
package import TidemarkGateway
package import TidemarkSession

/// The keys that come from the one secret of a server. The secret itself is not kept.
package struct ServerSecret: Sendable {
    /// Signs and checks tokens.
    package let tokens: TokenSecret
    /// Seals cursors.
    package let cursors: CursorSeal

    /// For `--dev` only: anybody can read it here.
    package static let development = "tidemark's development secret, known to everybody"

    /// - Throws: when there are fewer than 32 bytes.
    package init(_ bytes: [UInt8], from setting: Setting) throws(ConfigurationError) {
        guard let tokens = TokenSecret(bytes) else {
            throw ConfigurationError(
                setting,
                "the secret has \(bytes.count) bytes and needs at least \(TokenSecret.bytesMin); "
                    + "make one with: head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \\n'")
        }
        self.tokens = tokens
        cursors = CursorSeal(
            key: HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: bytes), info: Data("tidemark cursor seal 1".utf8),
                outputByteCount: 32))
    }
}
