package import TidemarkModel
package import TidemarkWire

/// The checks of a transaction that need no state: schema, types, sizes. They run before the lock, on the connection's
/// own thread, and encode new bodies there.
package struct Admission: Sendable {
    package let schema: Schema
    package let limits: ModelLimits
    private let sharedScopes: Set<ScopeID>

    /// - Parameter schema: renamed collections are known by their stored names only.
    package init(schema: Schema, limits: ModelLimits) {
        self.schema = schema.stored
        self.limits = limits
        sharedScopes = Set(schema.sharedScopes)
    }

    /// Checks an entry. Never throws: an error in an entry becomes that entry's refusal.
    package func admit(_ entry: Push.Entry, from principal: Principal) -> AdmittedEntry {
        let id = entry.id ?? UniqueID(high: 0, low: 0)
        switch entry.content {
        case .failure(let rejection):
            return AdmittedEntry(id: id, ifSeq: nil, steps: .failure(rejection))
        case .success(let transaction):
            let steps = Result { () throws(Rejection) in
                var steps: [Step] = []
                steps.reserveCapacity(transaction.mutations.count)
                for mutation in transaction.mutations {
                    if let step = try step(mutation, principal) { steps.append(step) }
                }
                if steps.isEmpty, let first = transaction.mutations.first { throw removed(first) }
                return steps
            }
            return AdmittedEntry(id: id, ifSeq: transaction.ifSeq, steps: steps, sharedScopes: sharedScopes)
        }
    }

    /// Returns the refusal of a transaction of which nothing is left.
    private func removed(_ mutation: Mutation) -> Rejection {
        let name = mutation.key.collection
        guard schema.collection(name) != nil, case .update(let patches) = mutation.action else {
            return Rejection(.unknownCollection, "\(name): the schema has removed this collection")
        }
        let fields = patches.map(\.field).joined(separator: ", ")
        return Rejection(.invalid, "\(name).\(fields): the schema has removed this")
    }

    /// Returns the step, or `nil` for a mutation of what the schema has removed since the app was built. The rest of
    /// its transaction is kept, so that an old app does not lose it.
    private func step(_ mutation: Mutation, _ principal: Principal) throws(Rejection) -> Step? {
        guard let collection = schema.collection(mutation.key.collection) else {
            if schema.removedCollections.contains(mutation.key.collection) { return nil }
            throw Rejection(
                .unknownCollection, "\(mutation.key.collection.excerpt()): no such collection in the schema")
        }
        guard let remaining = mutation.action.without(collection.removedFields) else { return nil }
        let action: Step.Action
        switch remaining {
        case .create(let fields):
            let (fields, body, scope) = try born(fields, mutation.key, collection, principal)
            let isFree = principal.isService && collection.identity?.isKey != true
            guard isFree || collection.admits(mutation.key.id, fields: fields, author: principal.user)
            else { throw collection.otherIdentity }
            action = .create(fields, body: body, scope: scope)
        case .undelete(let written):
            let fields = try RecordMerge.restoring(written, in: collection, isService: principal.isService)
            action = .undelete(fields, scope: try collection.scope(of: mutation.key.id, fields: fields))
        case .update(let patches):
            action = .update(patches)
        case .delete:
            action = .delete
        }
        // The schema's own text, so that all keys share its storage.
        let key = RecordKey(collection: collection.name, id: mutation.key.id)
        return Step(key: key, collection: collection, action: action)
    }

    private func born(
        _ fields: Fields, _ key: RecordKey, _ collection: CollectionSchema, _ principal: Principal
    ) throws(Rejection) -> (Fields, [UInt8], ScopeID) {
        let fields = try RecordMerge.created(fields, in: collection, isService: principal.isService)
        let scope = try collection.scope(of: key.id, fields: fields)
        let body = fields.canonicalBytes
        try checkSize(body.count, collection, limits)
        return (fields, body, scope)
    }
}

/// Refuses a body over the record limit.
func checkSize(_ bytes: Int, _ collection: CollectionSchema, _ limits: ModelLimits) throws(Rejection) {
    guard bytes <= limits.recordBytesMax else {
        throw Rejection(
            .tooLarge, "\(collection.name): a body of \(bytes) bytes; the limit is \(limits.recordBytesMax)")
    }
}

extension Mutation.Action {
    /// Returns the action without these fields; `nil` when nothing is left of it.
    fileprivate func without(_ names: Set<String>) -> Mutation.Action? {
        guard !names.isEmpty else { return self }
        func rest(_ fields: Fields) -> Fields { Fields(sorted: fields.entries.filter { !names.contains($0.name) }) }
        switch self {
        case .create(let fields): return .create(rest(fields))
        case .undelete(let fields): return .undelete(rest(fields))
        case .delete: return self
        case .update(let patches):
            let left = patches.filter { !names.contains($0.field) }
            return left.isEmpty && !patches.isEmpty ? nil : .update(left)
        }
    }
}

extension Admission {
    /// Returns whether a user could write anything at all in a scope, by the rules that judge steps. It decides on data
    /// that belongs to no record, such as the bytes that a record will name.
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
                // Creating such a record would open another scope.
                return mayChange(in: collection, role: grant?.role)
            }
        }
    }

    private func mayWrite(in collection: CollectionSchema, role: Role?) -> Bool {
        let author = Standing(role: role, isAuthor: true, isService: false)
        return author.satisfies(collection.creatorsInScope) || mayChange(in: collection, role: role)
    }

    /// Returns whether the role may change records of other authors; the right to create is checked before.
    private func mayChange(in collection: CollectionSchema, role: Role?) -> Bool {
        guard let role else { return false }
        let reader = Standing(role: role, isAuthor: false, isService: false)
        return reader.satisfies(collection.change)
            || collection.fields.contains { field in field.change.map { reader.satisfies($0) } ?? false }
    }
}
