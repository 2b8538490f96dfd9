import Crypto
import Foundation
package import NIOCore
import NIOHTTP1
package import TidemarkModel

/// The destination of reset tokens: the operator's program, which sends each to the account's user, by mail as a rule.
///
/// It gets one POST of JSON, signed according to Standard Webhooks 1.0, with `webhook-id`, `webhook-timestamp` and
/// `webhook-signature`. The signature is `v1,` and HMAC-SHA256 over id, timestamp and body with dots between. A status
/// of success means that the program has accepted it.
package struct ResetHook: Sendable {
    /// The message to the program.
    package struct Message: Sendable {
        package var workspace: WorkspaceID
        package var login: String
        package var token: ResetToken
        /// The time until which the token is valid.
        package var until: Milliseconds

        package init(workspace: WorkspaceID, login: String, token: ResetToken, until: Milliseconds) {
            self.workspace = workspace
            self.login = login
            self.token = token
            self.until = until
        }

        var body: [UInt8] {
            let fields: Fields = [
                "type": "account.reset", "workspace": .string(workspace.text), "login": .string(login),
                "user": .string(token.user.text), "token": .string(token.text), "until": .integer(until),
            ]
            return fields.canonicalBytes
        }
    }

    private let source: KeySource
    private let secret: TokenSecret
    private let call: KeyFetch

    /// - Parameters:
    ///   - url: https, or http of a loopback address.
    ///   - secret: the secret with which the program checks the signature.
    package init(
        url: String, secret: TokenSecret, group: any EventLoopGroup, timeout: Duration = .seconds(5)
    ) throws(KeyReadingError) {
        // The operator has named the address, which may be in a private network.
        source = try KeySource(url: url, named: ["0.0.0.0/0", "::/0"].compactMap(Network.init), trustRoots: nil)
        self.secret = secret
        call = KeyFetch(group: group, timeout: timeout)
    }

    /// Sends a message, once.
    ///
    /// - Parameters:
    ///   - id: a random number that distinguishes messages.
    ///   - now: milliseconds since 1970.
    package func tell(_ message: Message, id: UInt64, now: Milliseconds) async throws(KeyFetchError) {
        let (name, time, body) = ("msg_\(id)", "\(now / 1_000)", message.body)
        let code = HMAC<SHA256>.authenticationCode(for: Array("\(name).\(time).".utf8) + body, using: secret.key)
        let fields: HTTPHeaders = [
            "Content-Type": "application/json", "webhook-id": name, "webhook-timestamp": time,
            "webhook-signature": "v1,\(Data(code).base64EncodedString())",
        ]
        _ = try await call.answer(of: source, to: KeyFetch.Call(method: .POST, fields: fields, body: body))
    }
}
