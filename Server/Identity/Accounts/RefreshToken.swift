import Crypto
package import TidemarkModel

/// The token with which a device gets its next tokens. It names the account, the device, the device's sign-in, and its
/// number. An authentication code of the server's key covers all of that, so that the token need not be stored.
///
/// The text form is `tmr1.` and, in base64url, nonce, number, client (8, 8 and 16 bytes), the user, and 32 bytes of
/// HMAC-SHA256 over the workspace and everything before.
package struct RefreshToken: Hashable, Sendable {
    package var user: UserID
    package var client: ClientID
    package var nonce: Int64
    package var number: Int64

    package init(user: UserID, client: ClientID, nonce: Int64, number: Int64) {
        self.user = user
        self.client = client
        self.nonce = nonce
        self.number = number
    }

    private static let prefix = "tmr1."
    private static let fixedBytes = 32
    private static let codeBytes = 32
    private static let textBytesMax = 512

    /// Returns the text for a workspace.
    func text(in workspace: WorkspaceID, _ key: SymmetricKey) -> String {
        let body = bytes
        let code = HMAC<SHA256>.authenticationCode(for: Self.signed(body, workspace), using: key)
        return Self.prefix + Base64URL.encode(body + Array(code))
    }

    /// Reads a token that was issued in the workspace; `nil` for anything else.
    init?(_ text: String, in workspace: WorkspaceID, _ keys: [SymmetricKey]) {
        guard text.utf8.count <= Self.textBytesMax, text.hasPrefix(Self.prefix),
            let bytes = Base64URL.decode(text.utf8.dropFirst(Self.prefix.utf8.count)),
            bytes.count > Self.fixedBytes + Self.codeBytes
        else { return nil }
        let (body, code) = (Array(bytes.dropLast(Self.codeBytes)), bytes.suffix(Self.codeBytes))
        let isOurs = keys.contains { key in
            HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.signed(body, workspace), using: key)
        }
        guard isOurs, let user = UserID(checking: String(decoding: body.dropFirst(Self.fixedBytes), as: UTF8.self))
        else { return nil }
        func number(_ place: Int) -> UInt64 { body[place..<place + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(
            user: user, client: UniqueID(high: number(16), low: number(24)), nonce: Int64(bitPattern: number(0)),
            number: Int64(bitPattern: number(8)))
    }

    private var bytes: [UInt8] {
        let words = [UInt64(bitPattern: nonce), UInt64(bitPattern: number), client.high, client.low]
        return words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - $0 * 8)) } }
            + Array(user.text.utf8)
    }

    private static func signed(_ body: [UInt8], _ workspace: WorkspaceID) -> [UInt8] {
        Array(workspace.text.utf8) + [0] + body
    }
}
