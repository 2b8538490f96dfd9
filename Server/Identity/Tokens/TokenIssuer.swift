import Foundation
import JWTKit
import TidemarkModel

/// Makes tokens that a server with the same secret accepts: for the operator's command, and tests.
package struct TokenIssuer: Sendable {
    private let signature: any JWTAlgorithm
    private let now: @Sendable () -> Int64

    /// - Parameter now: milliseconds since 1970.
    package init(secret: TokenSecret, now: @escaping @Sendable () -> Int64) async {
        signature = await secret.algorithm()
        self.now = now
    }

    /// Makes a signed token, valid from now on.
    ///
    /// - Parameters:
    ///   - lifetime: in whole seconds; the server refuses a token with more than ``Issuer/usualLifetimeMax``.
    ///   - isService: whether it is for a program of the operator.
    ///   - isOperator: whether it is for the operator's own calls, which concern the whole server.
    /// - Throws: an error of the signing library.
    package func issue(
        user: String, workspace: String, lifetime: Duration, isService: Bool = false, isOperator: Bool = false
    ) throws -> String {
        let issuedAt = now() / 1_000
        var claims: Fields = [
            "sub": .string(user), "ws": .string(workspace), "iat": .integer(issuedAt),
            "exp": .integer(issuedAt + lifetime.components.seconds),
        ]
        if isService { claims["svc"] = true }
        if isOperator { claims["op"] = true }
        let header = #"{"alg":"HS256","typ":"JWT"}"#
        let text = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.canonicalBytes)
        return text + "." + Base64URL.encode(try signature.sign(Array(text.utf8)))
    }
}
