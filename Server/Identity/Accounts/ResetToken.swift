import Crypto
package import TidemarkModel

/// A token that sets another password, once and soon: the operator's hook sends it to the owner of the account's mail
/// address. It names its user; the rest is random, and only its digest is kept.
package struct ResetToken: Sendable {
    package let user: UserID
    /// The text that the hook gets.
    package let text: String

    private static let prefix = "tms1."
    private static let randomBytes = 24
    private static let textBytesMax = 512

    /// Makes a new token.
    package init(for user: UserID, random: () -> UInt64) {
        self.user = user
        let chance = (0..<Self.randomBytes / 8).flatMap { _ in
            let word = random()
            return (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
        }
        text = Self.prefix + Base64URL.encode(chance + Array(user.text.utf8))
    }

    /// Reads a token that a user has sent; `nil` if it has another form.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.textBytesMax, text.hasPrefix(Self.prefix),
            let bytes = Base64URL.decode(text.utf8.dropFirst(Self.prefix.utf8.count)),
            let user = UserID(checking: String(decoding: bytes.dropFirst(Self.randomBytes), as: UTF8.self))
        else { return nil }
        self.user = user
        self.text = text
    }

    /// The digest that is kept of it.
    package var digest: String { Base64URL.encode(SHA256.hash(data: Array(text.utf8))) }

    /// Whether a kept digest is this token's; takes the same time wherever they differ.
    package func isKept(as digest: String) -> Bool {
        PasswordHash.areSame(Array(self.digest.utf8), Array(digest.utf8))
    }
}
