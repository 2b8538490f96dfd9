import Crypto

/// A secret that signs tokens. Never shows itself in a description or a dump.
package struct TokenSecret: Sendable, CustomStringConvertible, CustomReflectable {
    /// HS256 is as strong as its key: RFC 7518 §3.2 asks for as many bytes as the hash has.
    package static let bytesMin = 32

    let key: SymmetricKey

    /// - Returns: `nil` when there are fewer than ``bytesMin`` bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.bytesMin else { return nil }
        key = SymmetricKey(data: bytes)
    }

    /// Fixed text.
    package var description: String { "TokenSecret(redacted)" }

    /// Without children, so that `dump` shows nothing either.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
