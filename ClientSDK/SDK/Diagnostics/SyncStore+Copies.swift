import GRDB
package import TidemarkModel

/// A record as this device shows it, to be compared with the server's.
package struct ShownRecord: Hashable, Sendable {
    package let key: RecordKey
    package let scope: ScopeID
    package let seq: SequenceNumber
    package let state: RecordState
    package let fields: Fields
}

/// The work that a device has left.
package struct OpenWork: Hashable, Sendable {
    /// The number of transactions to be sent or answered, without withheld ones.
    package var unsent = 0
    /// The number of collections of scopes with missing pages, and of records that are fetched by id.
    package var unfilled = 0

    /// The number of blobs that can be sent; refused ones, and those that wait for another kind of network, are left
    /// out.
    package var unsentBlobs = 0

    /// True when no work is left.
    package var isDone: Bool { unsent == 0 && unfilled == 0 && unsentBlobs == 0 }
}

extension SyncStore {
    /// Returns every record that the app can see. Blocks until the read ends.
    package func shownRecords() throws -> [ShownRecord] {
        try database.writer.read { [database] db in
            try database.tables.values.flatMap { table in
                let sql = "SELECT \(table.columnsSQL) FROM \(CollectionTable.quoted(table.collection.name))"
                return try db.all(sql).map { row in
                    let (record, state) = try table.record(row)
                    return ShownRecord(
                        key: record.key, scope: record.scope, seq: record.seq, state: state, fields: record.fields)
                }
            }
        }
    }

    /// Returns the remaining work, from the database. Blocks for three short reads.
    package func openWork() throws -> OpenWork {
        let isHoldingBlobs = syncing.status.isHoldingBlobs
        return try database.writer.read { db in
            var work = OpenWork()
            let unsent = """
                SELECT count(*) FROM tidemark_outbox
                WHERE \(OutboxTable.isPending) AND state NOT IN ('withdrawn', 'waiting')
                """
            work.unsent = Int(try db.first(unsent)?.integer(0) ?? 0)
            let unfilled = """
                SELECT (SELECT count(*) FROM tidemark_scope_page WHERE \(ScopeTable.isToCome))
                    + (SELECT count(*) FROM tidemark_refetch)
                """
            work.unfilled = Int(try db.first(unfilled)?.integer(0) ?? 0)
            work.unsentBlobs = try isHoldingBlobs ? 0 : BlobTable(db: db).next(limit: .max).count
            return work
        }
    }

    /// Returns a record of the server as an app's model.
    ///
    /// - Throws: `StoreError` with `coding` when the model cannot hold it.
    package static func model<Model: SyncModel>(
        _ model: Model.Type, of change: Change, in schema: Schema
    ) throws -> Model {
        guard let collection = schema.collection(Model.collection) else {
            throw StoreError(.unknownName, "\(Model.collection): no such collection in the schema")
        }
        return try ModelCoding<Model>(collection: collection).model(LocalRecord(change), .synced)
    }

    /// The engine's phase, without the numbers of a status.
    package var connection: ConnectionState { syncing.status.connection }
}
