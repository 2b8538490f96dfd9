package import TidemarkModel

/// Takes blobs away that nothing names (COMPACTION.md, "Blobs"). A store of its own kind of work: what serves does not call it.
///
/// Each call is one short step. What changes a blob does so only if the blob is still in the stage that it was found in, so
/// that a put in between wins, and any number of nodes may do it at once. ``BlobCompaction`` makes the calls in the right order.
package protocol BlobCompacting: Sendable {
    /// Blobs of a workspace whose stage is due, with the scopes that they were put in, of both together at most
    /// ``DueBlob/pairsMax``. The scopes of a blob are all there, unless it is the only one and has as many as that.
    func dueBlobs(of workspace: WorkspaceID, _ due: DueStages) async throws(StoreError) -> [DueBlob]

    /// Moves blobs to a stage, those that are still in the stage that they were found in.
    ///
    /// - Returns: how many were.
    func move(
        _ blobs: [DueBlob], to stage: BlobStage, of workspace: WorkspaceID
    ) async throws(StoreError) -> Int

    /// Takes blobs away with their bytes, out of all scopes, those that are still in the stage that they were found in.
    ///
    /// - Parameter blobs: no more than ``BlobUsage/stepMax`` says.
    /// - Returns: what went.
    func take(_ blobs: [DueBlob], of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage

    /// Has blobs that are unnamed or withdrawn count as needed, at most `limit`.
    ///
    /// - Returns: how many; 0 when there are none left.
    func keepAll(of workspace: WorkspaceID, now: Milliseconds, limit: Int) async throws(StoreError) -> Int

    /// A node of a version that knows no stages is connected: a put that it answers renews nothing.
    func isSharedWithOlder() async throws(StoreError) -> Bool

    /// As ``Compacting/giveBack(pages:)``, for the file of the blobs.
    func giveBackBlobs(pages: Int) async throws(StoreError) -> Int
}

/// A blob that has been in its stage for long.
package struct DueBlob: Hashable, Sendable {
    /// Blobs with their scopes in one look. One that is in so many scopes is not looked for, and counts as named.
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

    /// Gathers rows of one blob and one scope each, those of a blob beside each other; a scope is `nil` where there is none.
    ///
    /// - Parameter rows: at most `pairsMax`; where there are as many the last blob may lack some of its scopes, and is left out.
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

/// A stretch of a scope, looked through for names of blobs.
package struct BlobNamePage: Hashable, Sendable {
    /// Those of the blobs asked for that are named.
    package var found: Set<BlobDigest>
    /// Where the next stretch begins; `nil` at the end of the scope.
    package var next: SequenceNumber?

    package init(found: Set<BlobDigest>, next: SequenceNumber?) {
        self.found = found
        self.next = next
    }
}
