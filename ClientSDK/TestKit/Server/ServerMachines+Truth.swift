import Tidemark
import TidemarkHub
import TidemarkModel
import TidemarkStore

extension ServerMachines {
    /// Returns the living records of a collection, in the order of their creation.
    func changes(of collection: String) throws -> [Change] {
        try tables.records(in: Self.workspace).filter { $0.key.collection == collection && !$0.isDeleted }
            .map { try Change($0) }
    }

    /// Returns the living records that a user may see.
    func changes(for user: UserID) throws -> [RecordKey: Change] {
        let grants = tables.session(for: user, client: nil, in: Self.workspace).grants + context.sharedGrants
        let scopes = Set(grants.map(\.scope))
        var changes: [RecordKey: Change] = [:]
        for record in tables.records(in: Self.workspace) where !record.isDeleted && scopes.contains(record.scope) {
            changes[record.key] = try Change(record)
        }
        return changes
    }
}

extension Change {
    fileprivate init(_ record: StoredRecord) throws {
        let fields = record.body.isEmpty ? Fields() : try JSONReader.read(record.body) { try $0.fields() }
        self.init(
            key: record.key, scope: record.scope, seq: record.seq, born: record.born, isDeleted: record.isDeleted,
            author: record.author, created: record.created, updated: record.updated, fields: fields)
    }
}
