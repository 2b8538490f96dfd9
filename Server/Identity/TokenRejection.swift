/// Why a token was not accepted. The texts are safe to send to the client and to log: they quote nothing of the token.
package enum TokenRejection: String, Error, Sendable, CaseIterable, CustomStringConvertible {
    /// Longer than ``TokenPolicy/tokenBytesMax``.
    case tooLong = "too_long"
    /// Not three base64url parts of a JWT, or not JSON within.
    case malformed
    /// Anything but HS256, or header fields that ask for another way to find a key.
    case algorithm
    /// Not signed with any of our secrets, or changed since.
    case signature
    /// `sub`, `ws`, `exp` or `iat` is absent, empty, too long or of the wrong type.
    case claims
    /// `iat` or `nbf` lies in the future.
    case notYetValid = "not_yet_valid"
    /// `exp` has passed.
    case expired
    /// `exp − iat` is not positive, or longer than ``TokenPolicy/lifetimeMax``.
    case lifetime
    /// `iss` is not the configured issuer.
    case issuer
    /// `aud` does not name this server.
    case audience

    /// A bounded name for metrics.
    package var label: String { rawValue }

    /// A sentence for people.
    package var description: String {
        switch self {
        case .tooLong: "the token is too long"
        case .malformed: "the token is not a JWT"
        case .algorithm: "the token must be signed with HS256 and name no other key"
        case .signature: "the token's signature is not valid here"
        case .claims: "the token needs the claims sub, ws, exp and iat"
        case .notYetValid: "the token is not valid yet"
        case .expired: "the token has expired"
        case .lifetime: "the token's lifetime is too long"
        case .issuer: "the token's issuer is not accepted here"
        case .audience: "the token is meant for another server"
        }
    }
}
