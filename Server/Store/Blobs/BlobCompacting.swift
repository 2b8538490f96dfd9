package import TidemarkModel

/// Deletes blobs that nothing names (COMPACTION.md, "Blobs"). Separate from `BlobStore`: the serving path does not call
/// it.
///
/// Each call is one short step. A call changes a blob only if it is still in the stage in which it was found, so that a
/// put in between wins. Any number of nodes may do it at once. ``BlobCompaction`` makes the calls in the right order.
package protocol BlobCompacting: Sendable {
    /// Returns blobs of a workspace whose stage is due, with the scopes that they were put in; at most
    /// ``DueBlob/pairsMax`` pairs of both. All scopes of a blob are included, unless it is the only blob and has that
    /// many.
    func dueBlobs(of workspace: WorkspaceID, _ due: DueStages) async throws(StoreError) -> [DueBlob]

    /// Moves those of the blobs to a stage that are still in the stage in which they were found.
    ///
    /// - Returns: the number of moved ones.
    func move(
        _ blobs: [DueBlob], to stage: BlobStage, of workspace: WorkspaceID
    ) async throws(StoreError) -> Int

    /// Deletes those of the blobs, with their bytes and from all scopes, that are still in the stage in which they were
    /// found.
    ///
    /// - Parameter blobs: no more than ``BlobUsage/stepMax`` allows.
    /// - Returns: the deleted blobs and bytes.
    func take(_ blobs: [DueBlob], of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage

    /// Does for the file of the blobs what ``Compacting/giveBack(pages:)`` does for the records.
    func giveBackBlobs(pages: Int) async throws(StoreError) -> Int
}

/// A blob whose stage has lasted long enough to end.
package struct DueBlob: Hashable, Sendable {
    /// The maximum number of pairs of blob and scope in one look. A blob in that many scopes is not looked for and is
    /// treated as named.
    package static let pairsMax = 2_000

    package var digest: BlobDigest
    package var bytes: Int64
    package var stage: BlobStage
    package var scopes: [ScopeID]

    package init(digest: BlobDigest, bytes: Int64, stage: BlobStage, scopes: [ScopeID]) {
        self.digest = digest
        self.bytes = bytes
        self.stage = stage
        self.scopes = scopes
    }

    /// Gathers rows of one blob and one scope each. The rows of a blob are adjacent; the scope is `nil` for a blob
    /// without scopes.
    ///
    /// - Parameter rows: at most `pairsMax`; if there are that many, the last blob may lack some of its scopes and is
    ///   left out.
    package static func gathered(_ rows: [(blob: DueBlob, scope: ScopeID?)], pairsMax: Int = pairsMax) -> [DueBlob] {
        var blobs: [DueBlob] = []
        for (blob, scope) in rows {
            if blobs.last?.digest != blob.digest { blobs.append(blob) }
            if let scope { blobs[blobs.count - 1].scopes.append(scope) }
        }
        if rows.count >= pairsMax, blobs.count > 1 { blobs.removeLast() }
        return blobs
    }
}

/// One stretch of a scope that was searched for names of blobs.
package struct BlobNamePage: Hashable, Sendable {
    /// The requested blobs that are named.
    package var found: Set<BlobDigest>
    /// The number after which the next stretch begins; `nil` at the end of the scope.
    package var next: SequenceNumber?

    package init(found: Set<BlobDigest>, next: SequenceNumber?) {
        self.found = found
        self.next = next
    }
}
