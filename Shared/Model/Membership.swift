/// A user's role in a scope, weakest first.
public enum Role: String, Sendable, Hashable, CaseIterable {
    case member
    case admin
    /// The author of the scope's record.
    case owner
}

/// A user's permission to see a scope, with the number in the order from which it is valid.
public struct Grant: Hashable, Sendable {
    public let scope: ScopeID
    /// The sequence number of the grant; 0 for shared scopes, which every user sees. Together with the scope it
    /// identifies a subscription: a scope that is revoked and granted again is another one.
    public let since: SequenceNumber
    public let role: Role

    public init(scope: ScopeID, since: SequenceNumber, role: Role) {
        self.scope = scope
        self.since = since
        self.role = role
    }
}

/// The user or service that makes a request.
package struct Principal: Hashable, Sendable {
    package let user: UserID
    /// True for a trusted backend, which passes every access rule and may write server-only fields.
    package let isService: Bool

    package init(user: UserID, isService: Bool = false) {
        self.user = user
        self.isService = isService
    }
}
