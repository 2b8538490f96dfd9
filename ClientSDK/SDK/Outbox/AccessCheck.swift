import GRDB
import TidemarkModel

/// Judges a write of the app by the schema's access rules before it is shown, so that what the server would refuse is an
/// error at once, and no parked write later.
///
/// Refused is what this device knows for certain: the role by the server's last word, the author by the record. Where the role
/// is not known, or a write that may change it is under way, the server judges alone.
struct AccessCheck {
    let db: Database
    let database: LocalDatabase
    /// Whether the transaction that is being written has touched a record.
    let isStaged: (RecordKey) -> Bool

    /// - Parameters:
    ///   - before: the record as it is shown.
    ///   - after: the same with the mutation.
    /// - Throws: `forbidden`, or `invalid` for the record of a scope that its creator would not see.
    func check(
        _ mutation: Mutation, from before: LocalRecord, to after: LocalRecord, in collection: CollectionSchema
    ) throws {
        let name = collection.name
        switch mutation.action {
        case .create:
            try require(
                collection.creatorsInScope, "\(name): may be created", after, isOwner: collection.scope == .ownRecord)
            try checkMembers(after, collection)
        case .undelete:
            let isOwner = collection.scope == .ownRecord && before.author == database.account
            try require(collection.delete, "\(name): may be brought back", after, isOwner: isOwner)
        case .update(let patches):
            for named in patches {
                let accessors = collection.field(named.field)?.change ?? collection.change
                try require(accessors, "\(name).\(named.field): may be changed", before)
            }
        case .delete: try require(collection.delete, "\(name): may be deleted", before)
        }
    }

    private func require(
        _ accessors: Set<Accessor>, _ what: String, _ record: LocalRecord, isOwner: Bool = false
    ) throws {
        // Nearly all rules: who sees the record may write it.
        guard accessors.isDisjoint(with: [.anyone, .member]) else { return }
        let isByServices = accessors.isSubset(of: [.server])
        let role = isOwner ? .owner : try role(in: record.scope, of: record.key.collection)
        guard isByServices || role != nil else { return }
        let standing = Standing(role: role, isAuthor: record.author == database.account, isService: false)
        guard !standing.satisfies(accessors), try isByServices || isOwner || !mayBecomeAnother(in: record.scope) else {
            return
        }
        let list = accessors.map(\.rawValue).sorted().joined(separator: " or ")
        let own = role.map { ", and \(database.account) is \($0.rawValue)" } ?? ""
        throw Rejection(.forbidden, "\(what) by \(list.isEmpty ? "server" : list)\(own)")
    }

    /// `nil` where this device has not been told.
    private func role(in scope: ScopeID, of collection: String) throws -> Role? {
        if case .shared? = database.tables[collection]?.collection.scope { return .member }
        let row = try db.first("SELECT role FROM tidemark_scope WHERE scope = ?", [scope.text])
        return try row.flatMap { Role(rawValue: try $0.text(0)) }
    }

    /// A write of the scope's own record waits or stands before this one: it may make the user an admin.
    private func mayBecomeAnother(in scope: ScopeID) throws -> Bool {
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
