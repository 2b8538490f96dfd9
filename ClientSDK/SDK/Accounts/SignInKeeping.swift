import TidemarkModel

/// What signs a device in: as secret as a password.
public struct KeptSignIn: Codable, Hashable, Sendable, CustomStringConvertible {
    /// Whose it is, for `SyncStore.open`.
    public var user: String
    /// What gives the next tokens.
    public var refresh: String

    public init(user: String, refresh: String) {
        self.user = user
        self.refresh = refresh
    }

    /// Without what is secret.
    public var description: String { "KeptSignIn(\(user))" }
}

/// Keeps what signs a device in, so that it outlives the app: in the keychain, as a rule, and not in a backup that another device is
/// restored from.
public protocol SignInKeeping: Sendable {
    /// What was kept last; `nil` for nothing.
    func signIn() async throws -> KeptSignIn?

    /// Keeps it durably before it returns; `nil` takes away what there is.
    func keep(_ signIn: KeptSignIn?) async throws
}

/// Why an account did not sign anybody in.
public enum AccountFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// A person has to log in.
    case signedOut
    /// The name or the password is wrong, or a token does not count.
    case refused
    /// The account lets nobody in.
    case disabled
    /// Somebody has the name.
    case loginTaken
    /// The server does not take it, for this reason.
    case invalid(String)
    /// Too often, or the server is busy: again after so long, if it said.
    case unavailable(retryAfter: Duration?)
    /// What answers there has no accounts.
    case notAnAnswer

    /// The longest wait that is taken from a server, in milliseconds: a day.
    private static let waitMax: Int64 = 86_400_000

    init(_ status: Int, _ fields: Fields) {
        func text(_ name: String) -> String? { if case .string(let text)? = fields[name] { text } else { nil } }
        switch (status, text("code")) {
        case (401, "unauthenticated"?): self = .refused
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

    /// For logs.
    public var description: String {
        switch self {
        case .signedOut: "signed out: log in"
        case .refused: "the name or the password is wrong"
        case .disabled: "the account lets nobody in"
        case .loginTaken: "somebody has that name"
        case .invalid(let reason): reason
        case .unavailable: "the server is busy"
        case .notAnAnswer: "there are no accounts at that address"
        }
    }
}
