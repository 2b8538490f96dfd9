import Synchronization
package import TidemarkModel

/// The contract in memory, for tests and for trying things out: nothing outlives the process.
package final class InMemoryBlobStore: BlobStore {
    let tables: Mutex<BlobTables>

    package init(_ tables: BlobTables = BlobTables()) { self.tables = Mutex(tables) }

    package func put(
        _ blob: Blob, in scope: ScopeID, of workspace: WorkspaceID, by user: UserID, now: Milliseconds
    ) async throws(StoreError) -> BlobReceipt {
        tables.withLock { $0.put(blob, in: scope, of: workspace, by: user) }
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
