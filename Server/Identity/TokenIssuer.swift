import Foundation
import TidemarkModel

/// Makes tokens that a ``TokenVerifier`` with the same secret and policy accepts: for the operator's command, and tests.
package struct TokenIssuer: Sendable {
    private let secret: TokenSecret
    private let policy: TokenPolicy
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - policy: its issuer and audience are put into the tokens.
    ///   - now: milliseconds since 1970.
    package init(secret: TokenSecret, policy: TokenPolicy = TokenPolicy(), now: @escaping @Sendable () -> Int64) {
        self.secret = secret
        self.policy = policy
        self.now = now
    }

    /// A signed token, valid from now on.
    ///
    /// - Parameters:
    ///   - lifetime: whole seconds count; beyond the policy's maximum the verifier refuses the token.
    ///   - isService: for a program of the operator.
    ///   - isOperator: for the operator's own calls, which concern the whole server.
    /// - Throws: an error of the JSON encoder, for text that has no UTF-8 form.
    package func issue(
        user: String, workspace: String, lifetime: Duration, isService: Bool = false, isOperator: Bool = false
    ) throws -> String {
        let issuedAt = (Double(now()) / 1000).rounded(.down)
        let claims = TokenClaims(
            sub: user, ws: workspace, exp: issuedAt + Double(lifetime.components.seconds), iat: issuedAt,
            iss: policy.issuer, aud: policy.audience.map { .one($0) }, svc: isService ? true : nil,
            op: isOperator ? true : nil)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = #"{"alg":"\#(CompactToken.algorithm)","typ":"JWT"}"#
        let signedText = Base64URL.encode(header.utf8) + "." + Base64URL.encode(try encoder.encode(claims))
        return signedText + "." + Base64URL.encode(secret.sign(Array(signedText.utf8)))
    }
}
