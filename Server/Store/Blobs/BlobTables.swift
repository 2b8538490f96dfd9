package import TidemarkModel

/// The blobs of one store in memory as a value: pure, synchronous, and snapshotted by copying it.
package struct BlobTables: Sendable {
    private struct Holding: Sendable {
        private(set) var blobs: [BlobDigest: Blob] = [:]
        var stages: [BlobDigest: BlobStage] = [:]
        var scopes: [ScopeID: Set<BlobDigest>] = [:]
        var authors: [ScopeID: [BlobDigest: UserID]] = [:]
        private(set) var bytes: Int64 = 0

        mutating func add(_ blob: Blob) {
            blobs[blob.digest] = blob
            bytes += Int64(blob.bytes.count)
        }

        mutating func remove(_ digest: BlobDigest) {
            bytes -= Int64(blobs.removeValue(forKey: digest)?.bytes.count ?? 0)
            stages[digest] = nil
        }

        func hasElsewhere(_ digest: BlobDigest, than scope: ScopeID) -> Bool {
            scopes.contains { $0.key != scope && $0.value.contains(digest) }
        }
    }

    private let limits: StoreLimits
    private var workspaces: [WorkspaceID: Holding] = [:]

    package init(limits: StoreLimits = StoreLimits()) { self.limits = limits }

    /// See `BlobStore.put`.
    package mutating func put(
        _ blob: Blob, in scope: ScopeID, of workspace: WorkspaceID, by user: UserID = UserID(""), now: Milliseconds = 0
    ) -> BlobReceipt {
        var holding = workspaces.removeValue(forKey: workspace) ?? Holding()
        defer { workspaces[workspace] = holding }
        if holding.blobs[blob.digest] == nil {
            guard limits.hasRoom(for: blob, beside: holding.bytes) else { return .quotaUsedUp }
            holding.add(blob)
        }
        holding.stages[blob.digest] = .needed(since: now)
        guard holding.scopes[scope, default: []].insert(blob.digest).inserted else { return .wasThere }
        holding.authors[scope, default: [:]][blob.digest] = user
        return .kept
    }

    /// Returns the blob, if it was put in this scope and is readable.
    package func blob(_ digest: BlobDigest, in scope: ScopeID, of workspace: WorkspaceID) -> Blob? {
        guard let holding = workspaces[workspace], holding.scopes[scope]?.contains(digest) == true,
            holding.stages[digest]?.isReadable == true
        else { return nil }
        return holding.blobs[digest]
    }

    /// See `BlobErasing.erasureUsage`.
    package func erasureUsage(of scope: ScopeID, in workspace: WorkspaceID) -> BlobUsage {
        guard let holding = workspaces[workspace], let digests = holding.scopes[scope] else { return BlobUsage() }
        let lonely = digests.filter { digest in !holding.hasElsewhere(digest, than: scope) }
        return BlobUsage(
            blobs: digests.count, bytes: lonely.reduce(0) { $0 + Int64(holding.blobs[$1]?.bytes.count ?? 0) })
    }

    /// See `BlobErasing.eraseBlobs`.
    package mutating func eraseBlobs(of scope: ScopeID, in workspace: WorkspaceID) -> BlobUsage {
        guard var holding = workspaces.removeValue(forKey: workspace) else { return BlobUsage() }
        defer { workspaces[workspace] = holding }
        var step = BlobUsage()
        for digest in (holding.scopes[scope] ?? []).sorted(by: { $0.text < $1.text }) {
            let size = Int64(holding.blobs[digest]?.bytes.count ?? 0)
            guard
                step.blobs == 0 || step.blobs < BlobUsage.stepMax.blobs && step.bytes + size <= BlobUsage.stepMax.bytes
            else { break }
            step.blobs += 1
            step.bytes += size
            holding.scopes[scope]?.remove(digest)
            guard !holding.hasElsewhere(digest, than: scope) else { continue }
            holding.remove(digest)
        }
        if holding.scopes[scope]?.isEmpty == true { holding.scopes[scope] = nil }
        return step
    }

    /// See `BlobErasing.eraseBlobs(by:in:)`; erases all blobs in one step.
    package mutating func eraseBlobs(by user: UserID, in workspace: WorkspaceID) -> BlobUsage {
        guard var holding = workspaces.removeValue(forKey: workspace) else { return BlobUsage() }
        defer { workspaces[workspace] = holding }
        var step = BlobUsage()
        for (scope, authors) in holding.authors {
            for (digest, author) in authors where author == user && holding.scopes[scope]?.remove(digest) != nil {
                let size = Int64(holding.blobs[digest]?.bytes.count ?? 0)
                step = BlobUsage(blobs: step.blobs + 1, bytes: step.bytes + size)
                holding.authors[scope]?[digest] = nil
                guard !holding.scopes.values.contains(where: { $0.contains(digest) }) else { continue }
                holding.remove(digest)
            }
        }
        return step
    }

    /// See `BlobErasing.eraseBlobs(of:)`; erases all blobs in one step.
    package mutating func eraseBlobs(of workspace: WorkspaceID) -> BlobUsage {
        defer { workspaces[workspace] = nil }
        return usage(of: workspace)
    }

    /// See `BlobCompacting.dueBlobs`.
    package func dueBlobs(of workspace: WorkspaceID, _ due: DueStages) -> [DueBlob] {
        guard let holding = workspaces[workspace] else { return [] }
        let found = holding.stages.filter { due.contains($0.value.stored) }
            .sorted { ($0.value.stored, $0.key.text) < ($1.value.stored, $1.key.text) }
        let rows = found.flatMap { digest, stage -> [(blob: DueBlob, scope: ScopeID?)] in
            let blob = DueBlob(
                digest: digest, bytes: Int64(holding.blobs[digest]?.bytes.count ?? 0), stage: stage, scopes: [])
            let scopes = holding.scopes.filter { $0.value.contains(digest) }.keys.sorted()
            return scopes.isEmpty ? [(blob: blob, scope: nil)] : scopes.map { (blob: blob, scope: $0) }
        }
        return DueBlob.gathered(Array(rows.prefix(DueBlob.pairsMax)))
    }

    /// See `BlobCompacting.move`.
    package mutating func move(_ blobs: [DueBlob], to stage: BlobStage, of workspace: WorkspaceID) -> Int {
        let same = blobs.filter { workspaces[workspace]?.stages[$0.digest] == $0.stage }
        for blob in same { workspaces[workspace]?.stages[blob.digest] = stage }
        return same.count
    }

    /// See `BlobCompacting.take`.
    package mutating func take(_ blobs: [DueBlob], of workspace: WorkspaceID) -> BlobUsage {
        guard var holding = workspaces.removeValue(forKey: workspace) else { return BlobUsage() }
        defer { workspaces[workspace] = holding }
        var taken = BlobUsage()
        for blob in blobs where holding.stages[blob.digest] == blob.stage {
            taken = BlobUsage(blobs: taken.blobs + 1, bytes: taken.bytes + blob.bytes)
            holding.remove(blob.digest)
            for scope in blob.scopes {
                holding.scopes[scope]?.remove(blob.digest)
                holding.authors[scope]?[blob.digest] = nil
                if holding.scopes[scope]?.isEmpty == true { holding.scopes[scope] = nil }
            }
        }
        return taken
    }

    /// See `BlobStore.usage`.
    package func usage(of workspace: WorkspaceID) -> BlobUsage {
        BlobUsage(blobs: workspaces[workspace]?.blobs.count ?? 0, bytes: workspaces[workspace]?.bytes ?? 0)
    }
}

extension StoreLimits {
    /// Returns whether a blob fits beside the bytes that the workspace holds.
    package func hasRoom(for blob: Blob, beside bytes: Int64) -> Bool {
        Int64(blob.bytes.count) <= blobBytesPerWorkspaceMax - bytes
    }
}
