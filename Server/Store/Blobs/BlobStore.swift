package import TidemarkModel

/// Where blobs are kept: bytes by digest, each once a workspace, readable in the scopes that they were put in.
///
/// Apart from `Store`, so that large writes hold up no step of the order. Implementations pass one shared contract suite.
/// Every call names its workspace; nothing crosses workspaces. Who may put and get is judged by the caller.
package protocol BlobStore: Sendable {
    /// Keeps a blob in a scope, whole or not at all; when this returns, it is on disk. Putting it again changes nothing but
    /// that it is needed from now on (``BlobStage``), so that a call which threw is simply made again.
    ///
    /// - Parameter user: who put it there first; kept for whoever looks after the store.
    func put(
        _ blob: Blob, in scope: ScopeID, of workspace: WorkspaceID, by user: UserID, now: Milliseconds
    ) async throws(StoreError) -> BlobReceipt

    /// The bytes of a blob; `nil` when it was not put in this scope, or is withdrawn.
    func size(of digest: BlobDigest, in scope: ScopeID, of workspace: WorkspaceID) async throws(StoreError) -> Int?

    /// A part of a blob: what begins at `start`, which is 0 or the end of the part before. Empty at the blob's end, `nil`
    /// when it was not put in this scope, or when no part begins there.
    func part(
        of digest: BlobDigest, from start: Int, in scope: ScopeID, of workspace: WorkspaceID
    ) async throws(StoreError) -> [UInt8]?

    /// What the workspace holds.
    func usage(of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage
}

/// What became of a put.
package enum BlobReceipt: Hashable, Sendable {
    /// It is in the scope now.
    case kept
    /// It was in the scope already.
    case wasThere
    /// The workspace has no room for it; nothing was written.
    case quotaUsedUp
}

/// How much a workspace holds; a blob in several scopes counts once.
package struct BlobUsage: Hashable, Sendable {
    package var blobs: Int
    package var bytes: Int64

    package init(blobs: Int = 0, bytes: Int64 = 0) {
        self.blobs = blobs
        self.bytes = bytes
    }
}
