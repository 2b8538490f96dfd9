package import TidemarkModel

/// The revocation of all tokens issued before a time, for a workspace, a user or a device.
package struct Revocation: Hashable, Sendable {
    /// The owner of the revoked tokens.
    package enum Subject: Hashable, Sendable {
        /// Everyone who opens the workspace.
        case workspace
        case user(UserID)
        /// A device of a user.
        case client(ClientID, of: UserID)
    }

    package var workspace: WorkspaceID
    package var subject: Subject
    /// Milliseconds since 1970: tokens with this `iat` or a later one remain valid.
    package var notBefore: Milliseconds
    /// Counts the revocations of the database in the order of their commits.
    package var number: Int64

    package init(
        _ subject: Subject, in workspace: WorkspaceID, notBefore: Milliseconds, number: Int64 = 0
    ) {
        self.workspace = workspace
        self.subject = subject
        self.notBefore = notBefore
        self.number = number
    }

    /// The milliseconds that a revocation is kept: longer than any token lives, with an allowance for a wrong clock.
    package static let keptFor: Milliseconds = 32 * 24 * 3_600_000
}

extension Revocation.Subject {
    /// The stored kind: `workspace`, `user` or `client`.
    package var kind: String {
        switch self {
        case .workspace: "workspace"
        case .user: "user"
        case .client: "client"
        }
    }

    /// The user, or the client's id; empty for a workspace.
    package var name: String {
        switch self {
        case .workspace: ""
        case .user(let user): user.text
        case .client(let client, _): client.description
        }
    }

    /// The user whose tokens are revoked; empty for a workspace.
    package var owner: String {
        switch self {
        case .workspace: ""
        case .user(let user), .client(_, let user): user.text
        }
    }

    /// Reads the stored form; `nil` for values that no version has written.
    package init?(kind: String, name: String, owner: String) {
        switch kind {
        case "workspace": self = .workspace
        case "user":
            guard let user = UserID(checking: owner) else { return nil }
            self = .user(user)
        case "client":
            guard let client = UniqueID(name), let user = UserID(checking: owner) else { return nil }
            self = .client(client, of: user)
        default: return nil
        }
    }
}
