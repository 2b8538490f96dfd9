import TidemarkModel

/// The stored sign-in of a device. It is as secret as a password.
public struct StoredSignIn: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The user's name, for `SyncStore.open`.
    public var user: String
    /// The refresh token that buys the next tokens.
    public var refresh: String

    public init(user: String, refresh: String) {
        self.user = user
        self.refresh = refresh
    }

    /// A description without the secret.
    public var description: String { "StoredSignIn(\(user))" }
}

/// Stores a device's sign-in so that it outlives the app: usually in the keychain, and not in a backup from which
/// another device can be restored.
public protocol SignInStorage: Sendable {
    /// Returns the sign-in that was saved last, or `nil` when there is none.
    ///
    /// - Throws: an error when the storage cannot be read; the caller's call then fails with it.
    func load() async throws -> StoredSignIn?

    /// Stores the sign-in durably before it returns; `nil` deletes the stored one.
    ///
    /// - Throws: an error when nothing was stored; the caller's call then fails with it.
    func save(_ signIn: StoredSignIn?) async throws
}

/// The reason why a call to accounts failed.
public enum AccountFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The person has to log in.
    case signedOut
    /// The name or the password is wrong, or a token is not valid.
    case rejected
    /// An operator has disabled the account.
    case disabled
    /// Another account has this login name.
    case loginTaken
    /// The server rejected the request for this reason.
    case invalid(String)
    /// Too many attempts, or the server is busy. Try again after this time, if the server named one.
    case unavailable(retryAfter: Duration?)
    /// The address does not answer as a server with accounts.
    case notAnAnswer

    /// The longest wait that is accepted from a server, in milliseconds: a day.
    private static let waitMax: Int64 = 86_400_000

    init(_ status: Int, _ fields: Fields) {
        func text(_ name: String) -> String? { if case .string(let text)? = fields[name] { text } else { nil } }
        switch (status, text("code")) {
        case (401, "unauthenticated"?): self = .rejected
        case (403, "account_disabled"?): self = .disabled
        case (409, "login_taken"?): self = .loginTaken
        case (429, _), (500..<600, _):
            if case .integer(let wait)? = fields["retry_ms"] {
                self = .unavailable(retryAfter: .milliseconds(min(max(0, wait), Self.waitMax)))
            } else {
                self = .unavailable(retryAfter: nil)
            }
        case (400, _?), (403, _?): self = .invalid(text("msg") ?? "")
        default: self = .notAnAnswer
        }
    }

    /// A sentence for logs.
    public var description: String {
        switch self {
        case .signedOut: "signed out: log in"
        case .rejected: "the name or the password is wrong"
        case .disabled: "the account is disabled: ask the operator"
        case .loginTaken: "another account has that name: choose another one"
        case .invalid(let reason): reason
        case .unavailable: "the server is busy, or there were too many attempts: try again later"
        case .notAnAnswer: "the address does not answer as a server with accounts"
        }
    }
}
