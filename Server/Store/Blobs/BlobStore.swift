package import TidemarkModel

/// Stores blobs: bytes by digest, each once a workspace, readable in the scopes that they were put in.
///
/// Separate from `Store`, so that large writes delay no step of the order. Implementations pass one shared contract
/// suite. Every call names its workspace; nothing crosses workspaces. The caller judges who may put and get.
package protocol BlobStore: BlobCompacting, BlobErasing {
    /// Keeps a blob in a scope, whole or not at all; when this returns, it is on disk. Putting it again only marks it
    /// as needed from now on (``BlobStage``), so that a call that threw is simply repeated.
    ///
    /// - Parameter user: the user who put it there first; kept for the store's operators.
    func put(
        _ blob: Blob, in scope: ScopeID, of workspace: WorkspaceID, by user: UserID, now: Milliseconds
    ) async throws(StoreError) -> BlobReceipt

    /// Returns the size of a blob in bytes; `nil` when it was not put in this scope, or is withdrawn.
    func size(of digest: BlobDigest, in scope: ScopeID, of workspace: WorkspaceID) async throws(StoreError) -> Int?

    /// Returns the part of a blob that begins at `start`, which is 0 or the end of the part before. Empty at the blob's
    /// end; `nil` when it was not put in this scope, or when no part begins there.
    func part(
        of digest: BlobDigest, from start: Int, in scope: ScopeID, of workspace: WorkspaceID
    ) async throws(StoreError) -> [UInt8]?

    /// Returns the blobs and bytes that the workspace holds.
    func usage(of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage
}

/// The result of a put.
package enum BlobReceipt: Hashable, Sendable {
    /// The blob is in the scope now.
    case kept
    /// The blob was in the scope already.
    case wasThere
    /// The workspace's quota has no room for the blob; nothing was written.
    case quotaUsedUp
}

/// The amount that a workspace holds; a blob in several scopes counts once.
package struct BlobUsage: Hashable, Sendable {
    package var blobs: Int
    package var bytes: Int64

    package init(blobs: Int = 0, bytes: Int64 = 0) {
        self.blobs = blobs
        self.bytes = bytes
    }
}
