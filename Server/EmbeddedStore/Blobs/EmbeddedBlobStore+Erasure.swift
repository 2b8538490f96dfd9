import GRDB
package import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

extension EmbeddedBlobStore: BlobErasing {
    package func erasureUsage(of scope: ScopeID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        try await onReader { db in
            let row = try Row.fetchOne(
                db, sql: EmbeddedBlobErasureSQL.usage, arguments: [workspace.text, scope.text])
            return BlobUsage(blobs: row?[0] ?? 0, bytes: row?[1] ?? 0)
        }
    }

    /// One write transaction. SQLite overwrites deleted content with zeros; this file never had deletions without that.
    package func eraseBlobs(of scope: ScopeID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        try await onWriter { db in
            try db.execute(sql: "PRAGMA secure_delete = ON")
            try db.execute(sql: EmbeddedBlobErasureSQL.index)
            var step = BlobUsage()
            try db.inTransaction(.immediate) {
                let found = try Row.fetchAll(
                    db, sql: EmbeddedBlobErasureSQL.some,
                    arguments: [workspace.text, scope.text, BlobUsage.stepMax.blobs])
                for row in found {
                    let (digest, octets): (String, Int64) = (row[0], row[1])
                    guard step.blobs == 0 || step.bytes + octets <= BlobUsage.stepMax.bytes else { break }
                    try Self.take(digest, octets, outOf: scope, of: workspace, db)
                    step.blobs += 1
                    step.bytes += octets
                }
                return .commit
            }
            return step
        }
    }

    /// One write transaction.
    package func eraseBlobs(by user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        try await onWriter { db in
            try db.execute(sql: "PRAGMA secure_delete = ON")
            try db.execute(sql: EmbeddedBlobErasureSQL.index)
            var step = BlobUsage()
            try db.inTransaction(.immediate) {
                let found = try Row.fetchAll(
                    db, sql: EmbeddedBlobErasureSQL.someOfUser,
                    arguments: [workspace.text, user.text, BlobUsage.stepMax.blobs])
                for row in found {
                    let (scope, digest, octets): (String, String, Int64) = (row[0], row[1], row[2])
                    guard step.blobs == 0 || step.bytes + octets <= BlobUsage.stepMax.bytes else { break }
                    try Self.take(digest, octets, outOf: ScopeID(scope), of: workspace, db)
                    step.blobs += 1
                    step.bytes += octets
                }
                return .commit
            }
            return step
        }
    }

    package func eraseBlobs(of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        let scope = try await onReader { db in
            try String.fetchOne(db, sql: EmbeddedBlobErasureSQL.nextScope, arguments: [workspace.text])
        }
        if let scope { return try await eraseBlobs(of: ScopeID(scope), in: workspace) }
        return try await onWriter { db in
            try db.execute(sql: EmbeddedBlobErasureSQL.dropUsage, arguments: [workspace.text])
            return BlobUsage()
        }
    }

    private static func take(
        _ digest: String, _ octets: Int64, outOf scope: ScopeID, of workspace: WorkspaceID, _ db: Database
    ) throws {
        try db.cachedStatement(sql: EmbeddedBlobErasureSQL.dropScope).execute(
            arguments: [workspace.text, scope.text, digest])
        try db.cachedStatement(sql: EmbeddedBlobErasureSQL.drop).execute(arguments: [workspace.text, digest])
        guard db.changesCount > 0 else { return }
        try db.cachedStatement(sql: EmbeddedBlobErasureSQL.dropParts).execute(arguments: [workspace.text, digest])
        try db.cachedStatement(sql: EmbeddedBlobErasureSQL.countOut).execute(arguments: [workspace.text, octets])
    }

    /// Gives free pages back to the system, and empties the log.
    package func scrubBlobs() async throws(StoreError) {
        try await onWriter { db in
            try db.execute(sql: "PRAGMA incremental_vacuum")
            try db.checkpoint(.truncate)
        }
    }

    func onWriter<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        let result = await withCheckedContinuation { continuation in
            pool.asyncWriteWithoutTransaction { db in
                continuation.resume(returning: Result { try body(db) }.mapError(StoreError.init(sqlite:)))
            }
        }
        return try result.get()
    }
}
