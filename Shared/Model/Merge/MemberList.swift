/// Who belongs to a scope according to the scope's own record.
package struct MemberList: Hashable, Sendable {
    /// Every member with the role that the record gives.
    package let roles: [UserID: Role]

    /// Reads the member and admin fields; a deleted or absent record has no members.
    package init(fields: Fields?, author: UserID, collection: CollectionSchema) {
        guard let fields, let memberField = collection.memberField, case .array(let members)? = fields[memberField]
        else {
            roles = [:]
            return
        }
        var admins: Set<FieldValue> = []
        if let adminField = collection.adminField, case .array(let listed)? = fields[adminField] {
            admins = Set(listed)
        }
        var roles: [UserID: Role] = [:]
        for member in members {
            guard case .string(let text) = member, let user = UserID(checking: text) else { continue }
            roles[user] = user == author ? .owner : (admins.contains(member) ? .admin : .member)
        }
        self.roles = roles
    }

    /// Users whose role differs between the two lists, sorted, with the role that they have after (`nil`: none).
    package func changes(to after: MemberList) -> [(user: UserID, role: Role?)] {
        Set(roles.keys).union(after.roles.keys).sorted()
            .filter { roles[$0] != after.roles[$0] }
            .map { ($0, after.roles[$0]) }
    }
}
