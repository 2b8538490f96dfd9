/// How a user stands to one record: what access rules are judged by.
package struct Standing: Hashable, Sendable {
    /// The user's role in the record's scope; `nil` for someone who is not a member.
    package var role: Role?
    /// The user created the record.
    package var isAuthor: Bool
    package var isService: Bool

    package init(role: Role?, isAuthor: Bool, isService: Bool) {
        self.role = role
        self.isAuthor = isAuthor
        self.isService = isService
    }

    /// True when one of the accessors is this user. Authors must still be members: leaving a scope ends every right in it.
    package func satisfies(_ accessors: Set<Accessor>) -> Bool {
        if isService { return true }
        if accessors.contains(.anyone) { return true }
        guard let role else { return false }
        if isAuthor, accessors.contains(.author) { return true }
        switch role {
        case .member: return accessors.contains(.member)
        case .admin: return accessors.contains(.member) || accessors.contains(.admin)
        case .owner: return accessors.contains(.member) || accessors.contains(.admin) || accessors.contains(.owner)
        }
    }

    /// True when the patches may be made under the collection's rule and the fields' own.
    package func mayChange(_ patches: [NamedPatch], in collection: CollectionSchema) -> Bool {
        patches.allSatisfy { named in satisfies(collection.field(named.field)?.change ?? collection.change) }
    }
}

extension CollectionSchema {
    /// Who may create records: `anyone` opens scopes; inside a scope it means its members.
    package var creatorsInScope: Set<Accessor> {
        guard case .field = scope, create.contains(.anyone) else { return create }
        return create.subtracting([.anyone]).union([.member])
    }
}
