package import TidemarkModel

/// A person who signs in at this server, with a name and a password.
package struct Account: Hashable, Sendable {
    /// The name typed to log in, normalised; unique in the workspace.
    package var login: String
    /// The user of its tokens. Never changes; unique in the workspace.
    package var user: UserID
    /// The hash of the password, with its scheme and parameters; empty without a password, when nobody can log in.
    package var hash: String
    package var created: Milliseconds
    /// The time at which the password was last set.
    package var changed: Milliseconds
    /// The time since which the account refuses logins; `nil` for an enabled one.
    package var disabled: Milliseconds?
    /// The pending password reset; `nil` for none.
    package var reset: PasswordReset?
    /// The count of its changes: a writer passes the version that it read.
    package var version: Int64

    package init(
        login: String, user: UserID, hash: String, created: Milliseconds, changed: Milliseconds? = nil,
        disabled: Milliseconds? = nil, reset: PasswordReset? = nil, version: Int64 = 1
    ) {
        self.login = login
        self.user = user
        self.hash = hash
        self.created = created
        self.changed = changed ?? created
        self.disabled = disabled
        self.reset = reset
        self.version = version
    }
}

/// A token that sets a new password, once.
package struct PasswordReset: Hashable, Sendable {
    /// The digest of the token, which itself is not kept.
    package var digest: String
    /// The time up to which the token is valid.
    package var until: Milliseconds

    package init(digest: String, until: Milliseconds) {
        self.digest = digest
        self.until = until
    }
}

/// The result of adding an account.
package enum AccountAddition: Hashable, Sendable {
    case added
    /// Another account has the name.
    case loginTaken
    /// Another account is for the same user.
    case userTaken
}
