import GRDB
package import TidemarkModel
package import TidemarkStore

extension EmbeddedBlobStore: BlobCompacting {
    package func dueBlobs(of workspace: WorkspaceID, _ due: DueStages) async throws(StoreError) -> [DueBlob] {
        // Made on first need: an older version, which does not know them, still opens the file.
        try await onWriter { db in
            try db.execute(sql: EmbeddedBlobErasureSQL.index)
            try db.execute(sql: EmbeddedBlobCompactionSQL.index)
        }
        return try await onReader { db in
            let found = try Row.fetchAll(
                db, sql: EmbeddedBlobCompactionSQL.due,
                arguments: [
                    workspace.text, due.neededBelow, due.unnamedAbove, due.withdrawnAbove, BlobStage.withdrawnBound,
                    DueBlob.pairsMax,
                ])
            let rows = try found.map { row in
                guard let digest = BlobDigest(checking: row[0]) else {
                    throw StoreError(.invariant, "a stored digest is malformed")
                }
                let blob = DueBlob(digest: digest, bytes: row[2], stage: BlobStage(stored: row[1]), scopes: [])
                let scope: String? = row[3]
                return (blob: blob, scope: scope.map { ScopeID($0) })
            }
            return DueBlob.gathered(rows)
        }
    }

    /// One write transaction.
    package func move(
        _ blobs: [DueBlob], to stage: BlobStage, of workspace: WorkspaceID
    ) async throws(StoreError) -> Int {
        try await onWriter { db in
            var count = 0
            try db.inTransaction(.immediate) {
                let move = try db.cachedStatement(sql: EmbeddedBlobCompactionSQL.move)
                for blob in blobs {
                    try move.execute(
                        arguments: [workspace.text, blob.digest.text, blob.stage.stored, stage.stored])
                    count += db.changesCount
                }
                return .commit
            }
            return count
        }
    }

    /// One write transaction.
    package func take(_ blobs: [DueBlob], of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        try await onWriter { db in
            var taken = BlobUsage()
            try db.inTransaction(.immediate) {
                for blob in blobs {
                    try db.cachedStatement(sql: EmbeddedBlobCompactionSQL.take).execute(
                        arguments: [workspace.text, blob.digest.text, blob.stage.stored])
                    guard db.changesCount > 0 else { continue }
                    for sql in [EmbeddedBlobErasureSQL.dropParts, EmbeddedBlobCompactionSQL.dropScopes] {
                        try db.cachedStatement(sql: sql).execute(arguments: [workspace.text, blob.digest.text])
                    }
                    try db.cachedStatement(sql: EmbeddedBlobErasureSQL.countOut).execute(
                        arguments: [workspace.text, blob.bytes])
                    taken = BlobUsage(blobs: taken.blobs + 1, bytes: taken.bytes + blob.bytes)
                }
                return .commit
            }
            return taken
        }
    }

    package func giveBackBlobs(pages: Int) async throws(StoreError) -> Int {
        try await onWriter { try EmbeddedStore.giveBack(pages: pages, $0) }
    }
}

/// The statements that delete blobs which no record names.
enum EmbeddedBlobCompactionSQL {
    static let index = "CREATE INDEX IF NOT EXISTS sync_blob_stage ON sync_blob (workspace, created)"

    private static func some(_ condition: String) -> String {
        """
        SELECT * FROM (
            SELECT digest, created, octets FROM sync_blob WHERE workspace = ?1 AND \(condition) ORDER BY created LIMIT ?6
        )
        """
    }

    /// The blobs that are due, with their scopes.
    static let due = """
        SELECT b.digest, b.created, b.octets, s.scope
        FROM (
            \(some("created > 0 AND created < ?2"))
            UNION ALL
            \(some("created < 0 AND created > ?3"))
            UNION ALL
            \(some("created < ?5 AND created > ?4"))
            LIMIT ?6
        ) b
        LEFT JOIN sync_blob_scope s ON s.workspace = ?1 AND s.digest = b.digest
        ORDER BY b.created, b.digest
        LIMIT ?6
        """

    static let move = "UPDATE sync_blob SET created = ?4 WHERE workspace = ?1 AND digest = ?2 AND created = ?3"

    static let take = "DELETE FROM sync_blob WHERE workspace = ?1 AND digest = ?2 AND created = ?3"

    static let dropScopes = "DELETE FROM sync_blob_scope WHERE workspace = ?1 AND digest = ?2"
}
