package import TidemarkModel

/// The blobs of one store in memory as a value: pure, synchronous, and snapshotted by copying it.
package struct BlobTables: Sendable {
    private struct Holding: Sendable {
        var blobs: [BlobDigest: Blob] = [:]
        var scopes: [ScopeID: Set<BlobDigest>] = [:]
        var bytes: Int64 = 0
    }

    private let limits: StoreLimits
    private var workspaces: [WorkspaceID: Holding] = [:]

    package init(limits: StoreLimits = StoreLimits()) { self.limits = limits }

    /// See `BlobStore.put`; who and when are not kept.
    package mutating func put(_ blob: Blob, in scope: ScopeID, of workspace: WorkspaceID) -> BlobReceipt {
        var holding = workspaces.removeValue(forKey: workspace) ?? Holding()
        defer { workspaces[workspace] = holding }
        if holding.blobs[blob.digest] == nil {
            guard limits.hasRoom(for: blob, beside: holding.bytes) else { return .quotaUsedUp }
            holding.blobs[blob.digest] = blob
            holding.bytes += Int64(blob.bytes.count)
        }
        return holding.scopes[scope, default: []].insert(blob.digest).inserted ? .kept : .wasThere
    }

    /// The blob, if it was put in this scope.
    package func blob(_ digest: BlobDigest, in scope: ScopeID, of workspace: WorkspaceID) -> Blob? {
        guard let holding = workspaces[workspace], holding.scopes[scope]?.contains(digest) == true else { return nil }
        return holding.blobs[digest]
    }

    /// See `BlobStore.usage`.
    package func usage(of workspace: WorkspaceID) -> BlobUsage {
        BlobUsage(blobs: workspaces[workspace]?.blobs.count ?? 0, bytes: workspaces[workspace]?.bytes ?? 0)
    }
}

extension StoreLimits {
    /// Whether a blob fits beside what the workspace holds.
    package func hasRoom(for blob: Blob, beside bytes: Int64) -> Bool {
        Int64(blob.bytes.count) <= blobBytesPerWorkspaceMax - bytes
    }
}
