import Crypto
import Foundation
package import TidemarkIdentity

/// The keys that are derived from a server's secrets, one a line: the first signs, the others are still accepted. The
/// operator adds a new secret on top, and removes the old one once its tokens have expired. The secrets are not kept.
package struct ServerSecret: Sendable {
    /// Signs and checks tokens.
    package let tokens: TokenSecret
    /// Secrets that only check tokens.
    package let previousTokens: [TokenSecret]
    /// The keys that seal cursors if no other key is set for them.
    let cursorKeys: [SymmetricKey]

    /// - Throws: when there is no line, one has fewer than 32 bytes, or there are too many.
    package init(_ bytes: [UInt8], from setting: Setting) throws(ConfigurationError) {
        let lines = try SecretLines(bytes, from: setting)
        tokens = lines.secrets[0]
        previousTokens = Array(lines.secrets.dropFirst())
        cursorKeys = lines.cursorKeys
    }
}

/// The secrets of a file, one a line.
struct SecretLines {
    private static let secretsMax = 8

    /// At least one.
    let secrets: [TokenSecret]
    /// The key for cursors that is derived from each secret. A copy of a file of token secrets therefore opens the
    /// cursors that were sealed with it.
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
                let position = lines.count > 1 ? " in line \(index + 1)" : ""
                throw ConfigurationError(
                    setting,
                    "the secret\(position) has \(line.count) bytes and needs at least \(TokenSecret.bytesMin); "
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
