package import TidemarkModel

/// Tokens that were issued before a time count no more, for a workspace, a user or a device.
package struct Revocation: Hashable, Sendable {
    /// Whose tokens.
    package enum Subject: Hashable, Sendable {
        /// Everybody's who opens the workspace.
        case workspace
        case user(UserID)
        /// A device of a user.
        case client(ClientID, of: UserID)
    }

    package var workspace: WorkspaceID
    package var subject: Subject
    /// Milliseconds since 1970: a token of a later `iat`, or of this one, is good.
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

    /// Milliseconds for which one is kept: longer than any token lives, and a clock that is wrong.
    package static let keptFor: Milliseconds = 32 * 24 * 3_600_000
}

extension Revocation.Subject {
    /// `workspace`, `user` or `client`, as it is stored.
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

    /// Whose it is; empty for a workspace.
    package var owner: String {
        switch self {
        case .workspace: ""
        case .user(let user), .client(_, let user): user.text
        }
    }

    /// As it was stored; `nil` for what no version has written.
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
