import Crypto
import Foundation
package import TidemarkIdentity

/// The keys that come from the secrets of a server, one a line: the first signs, those below it are still accepted. So a
/// new secret goes on top, and the old one goes once the tokens that it signed have ended. The secrets are not kept.
package struct ServerSecret: Sendable {
    /// Signs and checks tokens.
    package let tokens: TokenSecret
    /// Check tokens only.
    package let previousTokens: [TokenSecret]
    /// What cursors are sealed with where they have no key of their own.
    let cursorKeys: [SymmetricKey]

    /// - Throws: when there is no line, one has fewer than 32 bytes, or there are too many.
    package init(_ bytes: [UInt8], from setting: Setting) throws(ConfigurationError) {
        let lines = try SecretLines(bytes, from: setting)
        tokens = lines.secrets[0]
        previousTokens = Array(lines.secrets.dropFirst())
        cursorKeys = lines.cursorKeys
    }
}

/// Secrets as they stand in a file, one a line.
struct SecretLines {
    private static let secretsMax = 8

    /// At least one.
    let secrets: [TokenSecret]
    /// The key for cursors that each stands for. A file of secrets for tokens, copied, opens the cursors that were sealed
    /// under it.
    let cursorKeys: [SymmetricKey]

    init(_ bytes: [UInt8], from setting: Setting) throws(ConfigurationError) {
        var lines = bytes.withoutMark.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            line in
            line.last == UInt8(ascii: "\r") ? Array(line.dropLast()) : Array(line)
        }
        while lines.count > 1, lines.last?.isEmpty == true { lines.removeLast() }
        guard lines.count <= Self.secretsMax else {
            throw ConfigurationError(setting, "\(lines.count) secrets, one a line; at most \(Self.secretsMax)")
        }
        var secrets: [TokenSecret] = []
        for (index, line) in lines.enumerated() {
            guard let secret = TokenSecret(line) else {
                let place = lines.count > 1 ? " in line \(index + 1)" : ""
                throw ConfigurationError(
                    setting,
                    "the secret\(place) has \(line.count) bytes and needs at least \(TokenSecret.bytesMin); "
                        + "make one with: head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \\n'")
            }
            secrets.append(secret)
        }
        self.secrets = secrets
        cursorKeys = lines.map(Self.cursorKey)
    }

    private static func cursorKey(_ secret: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret), info: Data("tidemark cursor seal 1".utf8), outputByteCount: 32
        )
    }
}
