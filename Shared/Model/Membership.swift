/// A user's part in a scope, weakest first.
public enum Role: String, Sendable, Hashable, CaseIterable {
    case member
    case admin
    /// The author of the scope's record.
    case owner
}

/// That a user may see a scope, since which place in the order.
public struct Grant: Hashable, Sendable {
    public let scope: ScopeID
    /// The sequence number of the grant; 0 for scopes that are shared with everybody. With the scope it identifies a
    /// subscription: revoked and granted again is another one.
    public let since: SequenceNumber
    public let role: Role

    public init(scope: ScopeID, since: SequenceNumber, role: Role) {
        self.scope = scope
        self.since = since
        self.role = role
    }
}

/// Who is asking.
package struct Principal: Hashable, Sendable {
    package let user: UserID
    /// A trusted backend: passes every access rule and may write server-only fields.
    package let isService: Bool

    package init(user: UserID, isService: Bool = false) {
        self.user = user
        self.isService = isService
    }
}
