import GRDB
package import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

extension EmbeddedStore {
    /// One read transaction on a reading connection.
    package func session(
        for user: UserID, client: ClientID?, holding seq: SequenceNumber?, in workspace: WorkspaceID
    ) async throws(StoreError) -> SessionSnapshot {
        try await onReader { [erased] db in
            try erased.check(workspace)
            let feed = FeedQuery(db: db, workspace: workspace)
            var snapshot = SessionSnapshot(head: try feed.head(), horizon: try feed.horizon())
            if let seq, seq > 0 { snapshot.lineage = try feed.batch(holding: seq) }
            if let client {
                let stored = try BatchReads(db: db, workspace: workspace).client(client)
                if let stored, stored.row.user == user {
                    snapshot.client = stored.row
                    snapshot.results = stored.kept
                }
            }
            snapshot.grants = try Prepared(EmbeddedSQL.grants, db).all(
                {
                    $0.text(workspace.text)
                    $0.text(user.text)
                }, { try $0.grant() })
            return snapshot
        }
    }

    /// One search in the primary key.
    package func batch(holding seq: SequenceNumber, in workspace: WorkspaceID) async throws(StoreError) -> Head? {
        guard seq > 0 else { return nil }
        return try await onReader { db in try FeedQuery(db: db, workspace: workspace).batch(holding: seq) }
    }

    /// One search in the feed for each scope.
    package func changedScopes(
        among scopes: [ScopeID], after seq: SequenceNumber, in workspace: WorkspaceID
    ) async throws(StoreError) -> [ScopeID] {
        try await onReader { db in
            guard try seq >= FeedQuery(db: db, workspace: workspace).horizon() else { throw StoreError.compacted }
            return try ScopeSearch(db: db, workspace: workspace).changed(among: scopes, after: seq)
        }
    }

    /// One read transaction: the head, the end of the window, then the feed of each scope.
    package func window(
        scopes: [ScopeID], after seq: SequenceNumber, span: Int64, in workspace: WorkspaceID
    ) async throws(StoreError) -> Window {
        try await onReader { [limits] db in
            try FeedQuery(db: db, workspace: workspace)
                .window(scopes: scopes, after: seq, span: span, bytesMax: limits.readBytesMax)
        }
    }

    /// One read transaction along the pages of the scope, backwards.
    package func page(
        scope: ScopeID, collection: String, before: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> Page {
        try await onReader { [limits] db in
            let query = FeedQuery(db: db, workspace: workspace)
            var page = Page(records: [], at: try query.head(), isLast: true)
            let rowsMax = limits.pageRows(limit)
            var bytes = 0
            let select = try Prepared(EmbeddedSQL.recordAtRow, db)
            try ScopeSearch(db: db, workspace: workspace).page(scope, collection, before: before) { row in
                guard let record = try select.first({ $0.integer(row) }, { try $0.record() }) else { return true }
                bytes += record.body.count
                let fits = page.records.isEmpty || (page.records.count < rowsMax && bytes <= limits.readBytesMax)
                if fits { page.records.append(record) } else { page.isLast = false }
                return fits
            }
            return page
        }
    }

    /// One read transaction, one search in the primary key an id.
    package func page(
        scope: ScopeID, collection: String, ids: [LocalID], limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> Page {
        try await onReader { [limits] db in
            var page = Page(records: [], at: try FeedQuery(db: db, workspace: workspace).head(), isLast: true)
            var bytes = 0
            let select = try Prepared(EmbeddedSQL.record, db)
            for id in ids.prefix(limits.pageRows(limit)) {
                let key = RecordKey(collection: collection, id: id)
                let record = try select.first({ $0.key(workspace, key) }, { try $0.record() })
                if let record, record.scope == scope, !record.isDeleted {
                    bytes += record.body.count
                    guard page.records.isEmpty || bytes <= limits.readBytesMax else { break }
                    page.records.append(record)
                }
                page.answered += 1
            }
            page.isLast = page.answered == ids.count
            return page
        }
    }

    /// Decodes bodies here, off the writer.
    package func tail(
        after seq: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> TailRead {
        try await onReader { db in
            let batches = try Prepared(EmbeddedSQL.tail, db).all(
                {
                    $0.text(workspace.text)
                    $0.integer(seq)
                    $0.integer(Int64(max(limit, 0)) + (seq > 0 ? 1 : 0))
                },
                { columns in
                    let head = columns.head()
                    let low = columns.integer()
                    let batch = try columns.optionalBytes().map { try BatchBody.decode($0, low: low, head: head) }
                    return TailBatch(low: low, head: head, batch: batch)
                })
            return TailRead(from: batches, after: seq, limit: limit)
        }
    }
}
