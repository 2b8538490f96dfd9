import TidemarkLock
package import TidemarkModel

/// The contract in memory, for tests and trials: nothing outlives the process.
package final class InMemoryBlobStore: BlobStore, Sendable {
    let tables: Lock<BlobTables>
    private let records: InMemoryStore?

    /// - Parameter records: the store whose erased scopes accept no blobs; `nil` where none is ever erased.
    package init(_ tables: BlobTables = BlobTables(), beside records: InMemoryStore? = nil) {
        self.tables = Lock(tables)
        self.records = records
    }

    package func put(
        _ blob: Blob, in scope: ScopeID, of workspace: WorkspaceID, by user: UserID, now: Milliseconds
    ) async throws(StoreError) -> BlobReceipt {
        guard let records else { return keep(blob, in: scope, of: workspace, by: user, now: now) }
        // Under the records' lock, so that nothing is erased in between.
        return try records.tables.withLock { held throws(StoreError) in
            if held.erased.contains(workspace) { throw .erasedWorkspace }
            if held.workspaces[workspace]?.erased[scope] != nil { throw .erasedScope }
            return keep(blob, in: scope, of: workspace, by: user, now: now)
        }
    }

    private func keep(
        _ blob: Blob, in scope: ScopeID, of workspace: WorkspaceID, by user: UserID, now: Milliseconds
    ) -> BlobReceipt {
        tables.withLock { $0.put(blob, in: scope, of: workspace, by: user, now: now) }
    }

    package func size(
        of digest: BlobDigest, in scope: ScopeID, of workspace: WorkspaceID
    ) async throws(StoreError) -> Int? {
        tables.withLock { $0.blob(digest, in: scope, of: workspace)?.bytes.count }
    }

    package func part(
        of digest: BlobDigest, from start: Int, in scope: ScopeID, of workspace: WorkspaceID
    ) async throws(StoreError) -> [UInt8]? {
        guard let blob = tables.withLock({ $0.blob(digest, in: scope, of: workspace) }) else { return nil }
        if start == blob.bytes.count { return [] }
        return blob.partStarts.contains(start) ? Array(blob.part(from: start)) : nil
    }

    package func usage(of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        tables.withLock { $0.usage(of: workspace) }
    }
}

extension InMemoryBlobStore: BlobCompacting {
    package func dueBlobs(of workspace: WorkspaceID, _ due: DueStages) async throws(StoreError) -> [DueBlob] {
        tables.withLock { $0.dueBlobs(of: workspace, due) }
    }

    package func move(
        _ blobs: [DueBlob], to stage: BlobStage, of workspace: WorkspaceID
    ) async throws(StoreError) -> Int {
        tables.withLock { $0.move(blobs, to: stage, of: workspace) }
    }

    package func take(_ blobs: [DueBlob], of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        tables.withLock { $0.take(blobs, of: workspace) }
    }

    package func giveBackBlobs(pages: Int) async throws(StoreError) -> Int { 0 }
}
