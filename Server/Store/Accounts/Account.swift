package import TidemarkModel

/// Somebody who signs in here, by a name and a password.
package struct Account: Hashable, Sendable {
    /// What is typed to log in, normalised; no other account of the workspace has it.
    package var login: String
    /// Whom its tokens are for. Never changes, and no other account of the workspace has it.
    package var user: UserID
    /// The hash of the password, with its scheme and parameters; empty where there is none, and nobody logs in.
    package var hash: String
    package var created: Milliseconds
    /// When the password was set last.
    package var changed: Milliseconds
    /// Since when it lets nobody in; `nil` for one that does.
    package var disabled: Milliseconds?
    /// What another password can be set by; `nil` for nothing.
    package var reset: PasswordReset?
    /// Counts its changes: who writes it says which one was read.
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

/// A token that sets another password, once.
package struct PasswordReset: Hashable, Sendable {
    /// Of the token, which itself is kept nowhere.
    package var digest: String
    /// It counts up to here.
    package var until: Milliseconds

    package init(digest: String, until: Milliseconds) {
        self.digest = digest
        self.until = until
    }
}

/// What became of an account that was to be added.
package enum AccountAddition: Hashable, Sendable {
    case added
    /// Another one has the name.
    case loginTaken
    /// Another one is for the same user.
    case userTaken
}
