/// The members of a scope according to the scope's own record: its sets of members and admins, as stored.
package struct MemberList: Sendable {
    private let members: [FieldValue]
    private let admins: [FieldValue]
    private let author: UserID

    /// Reads the member and admin fields; a deleted or absent record has no members.
    package init(fields: Fields?, author: UserID, collection: CollectionSchema) {
        self.author = author
        members = Self.texts(collection.memberField, fields)
        admins = Self.texts(collection.adminField, fields)
    }

    private static func texts(_ field: String?, _ fields: Fields?) -> [FieldValue] {
        guard let field, case .array(let elements)? = fields?[field] else { return [] }
        return SetMerge.canonical(elements)
            ?? SetMerge.canonical(elements.filter { if case .string = $0 { true } else { false } }) ?? []
    }

    /// The number of names in the list; some may not be valid user ids.
    package var count: Int { members.count }

    /// Whether the list names no user.
    package var isEmpty: Bool {
        !members.contains { if case .string(let text) = $0 { UserID(checking: text) != nil } else { false } }
    }

    /// Whether the list names this user and nobody else. A scope's only member may delete its record whatever the
    /// schema says, since a scope keeps a member.
    package func isAlone(_ user: UserID) -> Bool { members.count == 1 && role(of: user) != nil }

    /// Returns the role that the record gives the user; `nil` if they are not a member.
    package func role(of user: UserID) -> Role? {
        let name = FieldValue.string(user.text)
        guard SetMerge.contains(members, name) else { return nil }
        if user == author { return .owner }
        return SetMerge.contains(admins, name) ? .admin : .member
    }

    /// Returns the users whose role differs between the two lists, sorted, with the role before and the one after
    /// (`nil`: none).
    ///
    /// Only names that are in one list and not in the other are examined.
    package func changes(to after: MemberList) -> [(user: UserID, before: Role?, after: Role?)] {
        let names = SetMerge.union(
            SetMerge.difference(members, after.members), SetMerge.difference(admins, after.admins))
        return (names ?? []).compactMap { name in
            guard case .string(let text) = name, let user = UserID(checking: text) else { return nil }
            let (before, after) = (role(of: user), after.role(of: user))
            return before == after ? nil : (user, before, after)
        }
    }
}
