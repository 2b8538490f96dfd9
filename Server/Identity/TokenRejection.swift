/// Why a token was not accepted. The texts are safe to send to the client and to log: they quote nothing of the token, and
/// nothing of what is configured.
package enum TokenRejection: String, Error, Sendable, CaseIterable, CustomStringConvertible {
    /// Longer than `CompactToken.bytesMax`.
    case tooLong = "too_long"
    /// Not three base64url parts of a JWT, or not JSON within, or a name in it occurs twice.
    case malformed
    /// Header members that ask for another key, or that must be understood, or that have the wrong type.
    case header = "unsupported_header"
    /// `iss` is nobody's whose tokens are accepted.
    case issuer = "unknown_issuer"
    /// The issuer's tokens are not to be signed like this.
    case algorithm = "algorithm_not_allowed"
    /// The issuer has no such key.
    case key = "unknown_key"
    /// Signed with another key than it says, or changed since.
    case signature = "bad_signature"
    /// `exp` or `iat` is absent, or a time is no number or out of range.
    case times = "bad_times"
    /// `iat` or `nbf`, or Firebase's `auth_time`, lies in the future.
    case notYetValid = "not_yet_valid"
    /// `exp` has passed.
    case expired = "token_expired"
    /// `exp − iat` is not positive, or longer than is accepted.
    case lifetime = "lifetime_too_long"
    /// It is meant for somebody else.
    case audience = "wrong_audience"
    /// A claim that is required does not say what it must.
    case required = "required_claim"
    /// It names no user, or none that can be one.
    case user = "no_user"
    /// It names no workspace, or none that can be one.
    case workspace = "no_workspace"

    /// A bounded name for logs and metrics.
    package var label: String { rawValue }

    /// A sentence for people. Until the signature is known to be good it does not say what would have been accepted.
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
