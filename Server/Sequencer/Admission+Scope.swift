package import TidemarkModel

extension Admission {
    /// Whether a user could write anything at all in a scope, by the rules that steps are judged by: what belongs to no
    /// record, such as the bytes that a record will name, is for those.
    ///
    /// - Parameter grant: the user's own grant of the scope, if there is one.
    package func mayWrite(in scope: ScopeID, _ principal: Principal, grant: Grant?) -> Bool {
        if principal.isService { return true }
        return schema.collections.contains { collection in
            switch collection.scope {
            case .shared(let shared):
                return shared == scope && mayWrite(in: collection, role: .member)
            case .field:
                return mayWrite(in: collection, role: grant?.role)
            case .ownRecord:
                // To create one would open another scope.
                return mayChange(in: collection, role: grant?.role)
            }
        }
    }

    private func mayWrite(in collection: CollectionSchema, role: Role?) -> Bool {
        let author = Standing(role: role, isAuthor: true, isService: false)
        return author.satisfies(collection.creatorsInScope) || mayChange(in: collection, role: role)
    }

    /// As somebody who created none of the records; who could create some is asked before.
    private func mayChange(in collection: CollectionSchema, role: Role?) -> Bool {
        guard let role else { return false }
        let reader = Standing(role: role, isAuthor: false, isService: false)
        return reader.satisfies(collection.change)
            || collection.fields.contains { field in field.change.map { reader.satisfies($0) } ?? false }
    }
}
