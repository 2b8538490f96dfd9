import GRDB
import TidemarkModel

/// Judges a write of the app by the schema's access rules before it is shown: a write that the server would refuse
/// fails at once, instead of being parked later.
///
/// Refuses only what this device knows for certain: the role as the server last sent it, the author from the record. If
/// the role is unknown, or a pending write may change it, the server judges alone.
struct AccessCheck {
    let db: Database
    let database: LocalDatabase
    /// Whether the transaction that is being written has touched a record.
    let isStaged: (RecordKey) -> Bool
    /// Returns the record as that transaction has left it so far.
    let visible: (RecordKey) throws -> LocalRecord?

    /// - Parameters:
    ///   - before: the record as it is shown.
    ///   - after: the same record with the mutation.
    /// - Throws: `forbidden`, or `invalid` for a scope's own record that its creator could not see.
    func check(
        _ mutation: Mutation, from before: LocalRecord, to after: LocalRecord, in collection: CollectionSchema
    ) throws {
        let name = collection.name
        try checkStays(in: after.scope, collection)
        switch mutation.action {
        case .create:
            try requireCreation(of: after, collection)
            for field in collection.fields {
                guard let accessors = field.creators, let value = after.fields[field.name], !field.isAbsence(value)
                else { continue }
                try require(
                    accessors, "\(name).\(field.name): may be set at the creation", after, creation(in: collection))
            }
            try checkMembers(after, collection)
            try checkReferences(from: nil, to: after, collection)
        case .undelete: try checkRestore(from: before, to: after, collection)
        case .update(let patches):
            try checkNotEmptied(from: before, to: after, collection)
            try checkReferences(from: before.fields, to: after, collection)
            for named in patches {
                let accessors = collection.field(named.field)?.change ?? collection.change
                try require(accessors, "\(name).\(named.field): may be changed", before)
            }
        case .delete:
            let members = MemberList(fields: before.fields, author: before.author, collection: collection)
            guard !members.isAlone(database.account) else { break }
            try require(collection.delete, "\(name): may be deleted", before)
        }
    }

    /// Judges a record by the constraints of its fields, from the state that the transaction has found to the one that
    /// it leaves. A restored record whose deleted values this device does not know is left to the server.
    ///
    /// - Throws: `invalid`, or `forbidden` for a step that the user may not take.
    func judge(from before: LocalRecord, to after: LocalRecord, in collection: CollectionSchema) throws {
        guard after.existence == .live else { return }
        let fields: Fields?
        switch before.existence {
        case .absent: fields = nil
        case .live: fields = before.fields
        case .deleted:
            guard let buried = before.buried else { return }
            fields = buried
        }
        var judge = RecordJudge(collection)
        for step in try judge.judge(from: fields, to: after.fields) {
            try require(step.by, step.words(in: collection), after)
        }
    }

    /// Refuses a write in a scope that the user leaves in the same transaction.
    private func checkStays(in scope: ScopeID, _ collection: CollectionSchema) throws {
        guard let id = UniqueID(scope.text) else { return }
        for opener in database.schema.collections where opener.memberField != nil && opener.scope == .ownRecord {
            let key = RecordKey(collection: opener.name, id: id)
            guard isStaged(key), let record = try visible(key),
                MemberList(fields: record.fields, author: record.author, collection: opener)
                    .role(of: database.account) == nil
            else { continue }
            throw Rejection(.forbidden, "\(collection.name): \(database.account) leaves the scope \(scope) before this")
        }
    }

    private func requireCreation(of record: LocalRecord, _ collection: CollectionSchema) throws {
        try require(
            collection.creatorsInScope, "\(collection.name): may be created", record, creation(in: collection))
    }

    /// The claim of a record's creator, who is the owner if it is a scope's own record.
    private func creation(in collection: CollectionSchema) -> Claim {
        Claim(role: collection.scope == .ownRecord ? .owner : nil, isAuthor: true)
    }

    /// Checks a restore. The deleted fields are known only while the deletion is pending. So are the members of a
    /// deleted scope and their roles: until then the device still holds the scope.
    private func checkRestore(
        from before: LocalRecord, to after: LocalRecord, _ collection: CollectionSchema
    ) throws {
        var claim = Claim(role: nil, isAuthor: before.author == database.account)
        let members = MemberList(fields: before.buried, author: before.author, collection: collection)
        if collection.scope == .ownRecord, before.buried != nil { claim.role = members.role(of: database.account) }
        if !members.isAlone(database.account) {
            try require(collection.delete, "\(collection.name): may be brought back", after, claim)
        }
        try requireCreation(of: after, collection)
        try checkMembers(after, collection)
        guard let deleted = before.buried else { return }
        for value in RecordMerge.replaced(deleted, by: after.fields, in: collection) {
            let accessors = collection.field(value.field)?.change ?? collection.change
            try require(accessors, "\(collection.name).\(value.field): may be changed", after, claim)
        }
        try checkReferences(from: deleted, to: after, collection)
    }

    private func checkNotEmptied(
        from before: LocalRecord, to after: LocalRecord, _ collection: CollectionSchema
    ) throws {
        guard collection.memberField != nil,
            MemberList(fields: after.fields, author: after.author, collection: collection).isEmpty,
            !MemberList(fields: before.fields, author: before.author, collection: collection).isEmpty
        else { return }
        throw collection.emptied
    }

    /// Refuses references to a record that the device holds in another scope. A record that is not on the device may be
    /// at the server.
    private func checkReferences(
        from before: Fields?, to after: LocalRecord, _ collection: CollectionSchema
    ) throws {
        for field in collection.innerReferences {
            guard case .string(let text)? = after.fields[field.name], before?[field.name] != after.fields[field.name],
                let target = field.target, let id = UniqueID(text),
                let named = try visible(RecordKey(collection: target, id: id)), named.scope != after.scope
            else { continue }
            throw collection.strayReference(field)
        }
    }

    /// The user's standing towards a record, where the record itself does not give it.
    private struct Claim {
        /// The user's role; `nil` for the role in the scope.
        var role: Role?
        var isAuthor: Bool
    }

    private func require(
        _ accessors: Set<Accessor>, _ what: String, _ record: LocalRecord, _ claim: Claim? = nil
    ) throws {
        // Nearly all rules: a user who sees the record may write it.
        guard accessors.isDisjoint(with: [.anyone, .member]) else { return }
        let isByServices = accessors.isSubset(of: [.server])
        let role = try claim?.role ?? role(in: record.scope, of: record.key.collection)
        guard isByServices || role != nil else { return }
        let isAuthor = claim?.isAuthor ?? (record.author == database.account)
        let standing = Standing(role: role, isAuthor: isAuthor, isService: false)
        guard !standing.satisfies(accessors) else { return }
        guard try isByServices || claim?.role != nil || !mayBecomeAnother(in: record.scope) else { return }
        let list = accessors.map(\.rawValue).sorted().joined(separator: " or ")
        let own = role.map { ", and \(database.account) is \($0.rawValue)" } ?? ""
        throw Rejection(.forbidden, "\(what) by \(list.isEmpty ? "server" : list)\(own)")
    }

    /// Returns the user's role in a scope; `nil` if the server has not sent one.
    func role(in scope: ScopeID, of collection: String) throws -> Role? {
        if case .shared? = database.tables[collection]?.collection.scope { return .member }
        let row = try db.first("SELECT role FROM tidemark_scope WHERE scope = ?", [scope.text])
        return try row.flatMap { Role(rawValue: try $0.text(0)) }
    }

    /// True when a write of the scope's own record is pending or earlier in this transaction: it may make the user an
    /// admin.
    func mayBecomeAnother(in scope: ScopeID) throws -> Bool {
        guard let id = UniqueID(scope.text) else { return false }
        let sql = "SELECT 1 FROM tidemark_outbox_record WHERE collection = ? AND local_id = ? LIMIT 1"
        return try database.schema.collections.contains { collection in
            guard collection.scope == .ownRecord else { return false }
            let key = RecordKey(collection: collection.name, id: id)
            return try isStaged(key) || db.exists(sql, key.arguments)
        }
    }

    private func checkMembers(_ record: LocalRecord, _ collection: CollectionSchema) throws {
        guard collection.scope == .ownRecord, let field = collection.memberField else { return }
        let members = MemberList(fields: record.fields, author: database.account, collection: collection)
        guard members.role(of: database.account) == nil else { return }
        throw Rejection(
            .invalid, "\(collection.name).\(field): must list \(database.account), who creates it, among the members")
    }
}
