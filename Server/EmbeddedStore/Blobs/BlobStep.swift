import Foundation
import GRDB
import TidemarkModel
import TidemarkStore

/// The put of one blob, on the writing connection of the blobs' file.
struct BlobStep {
    let db: Database
    let workspace: WorkspaceID
    let limits: StoreLimits

    func put(_ blob: Blob, in scope: ScopeID, by user: UserID, now: Milliseconds) throws -> BlobReceipt {
        var receipt = BlobReceipt.wasThere
        try db.inTransaction(.immediate) {
            guard try renew(blob.digest, now) || keep(blob, now) else {
                receipt = .quotaUsedUp
                return .rollback
            }
            try db.cachedStatement(sql: EmbeddedBlobSQL.insertScope).execute(
                arguments: [workspace.text, scope.text, blob.digest.text, user.text, now])
            if db.changesCount > 0 { receipt = .kept }
            return .commit
        }
        return receipt
    }

    /// Whether any scope of the workspace has the blob. It is treated as needed from now on.
    private func renew(_ digest: BlobDigest, _ now: Milliseconds) throws -> Bool {
        try db.cachedStatement(sql: EmbeddedBlobSQL.renew).execute(
            arguments: [workspace.text, digest.text, BlobStage.needed(since: now).stored])
        return db.changesCount > 0
    }

    /// Stores a new blob; false if the quota has no room for it.
    private func keep(_ blob: Blob, _ now: Milliseconds) throws -> Bool {
        let row = try Row.fetchOne(db, sql: EmbeddedBlobSQL.usage, arguments: [workspace.text])
        guard limits.hasRoom(for: blob, beside: row?["octets"] ?? 0) else { return false }
        let size = blob.bytes.count
        try db.cachedStatement(sql: EmbeddedBlobSQL.count).execute(arguments: [workspace.text, size])
        try db.cachedStatement(sql: EmbeddedBlobSQL.insertBlob).execute(
            arguments: [workspace.text, blob.digest.text, size, BlobStage.needed(since: now).stored])
        for start in blob.partStarts {
            try db.cachedStatement(sql: EmbeddedBlobSQL.insertPart).execute(
                arguments: [workspace.text, blob.digest.text, start, Data(blob.part(from: start))])
        }
        return true
    }

    static func size(
        of digest: BlobDigest, in scope: ScopeID, of workspace: WorkspaceID, _ db: Database
    ) throws -> Int? {
        try Int.fetchOne(db, sql: EmbeddedBlobSQL.size, arguments: [workspace.text, scope.text, digest.text])
    }
}
