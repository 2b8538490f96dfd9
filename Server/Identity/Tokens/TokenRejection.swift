/// The reason why a token was not accepted. The texts are safe to send to the client and to log: they quote nothing of
/// the token, and nothing of the configuration.
package enum TokenRejection: String, Error, Sendable, CaseIterable, CustomStringConvertible {
    /// Longer than `CompactToken.bytesMax`.
    case tooLong = "too_long"
    /// Not three base64url parts of a JWT, or not JSON within, or a name in it occurs twice.
    case malformed
    /// Header members name another key, must be understood and are not, or have the wrong type.
    case header = "unsupported_header"
    /// `iss` is not that of an accepted issuer.
    case issuer = "unknown_issuer"
    /// The issuer's tokens must not be signed like this.
    case algorithm = "algorithm_not_allowed"
    /// The issuer has no such key.
    case key = "unknown_key"
    /// Signed with another key than it states, or changed since.
    case signature = "bad_signature"
    /// `exp` or `iat` is absent, or a time is not a number or out of range.
    case times = "bad_times"
    /// `iat` or `nbf`, or Firebase's `auth_time`, is in the future.
    case notYetValid = "not_yet_valid"
    /// `exp` has passed.
    case expired = "token_expired"
    /// `exp − iat` is not positive, or longer than is accepted.
    case lifetime = "lifetime_too_long"
    /// The token is meant for another audience.
    case audience = "wrong_audience"
    /// A required claim does not have the required value.
    case required = "required_claim"
    /// It names no user, or an invalid one.
    case user = "no_user"
    /// It names no workspace, or an invalid one.
    case workspace = "no_workspace"

    /// A name for logs and metrics, from a bounded set.
    package var label: String { rawValue }

    /// A sentence for people. For faults that are found before the signature is verified, it does not reveal what is
    /// accepted.
    package var description: String {
        switch self {
        case .tooLong: "the token is too long"
        case .malformed: "the token is not a JWT"
        case .header, .issuer, .algorithm, .key, .signature: "the token is not accepted here"
        case .times: "the token needs the times exp and iat"
        case .notYetValid: "the token is not valid yet"
        case .expired: "the token has expired"
        case .lifetime: "the token's lifetime is too long"
        case .audience: "the token is meant for another server"
        case .required: "the token lacks a claim that is required here"
        case .user: "the token names no user"
        case .workspace: "the token names no workspace"
        }
    }
}
