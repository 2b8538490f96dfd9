import Foundation
import GRDB
package import TidemarkModel
package import TidemarkStore

/// Blobs in a SQLite file of their own beside the records', so that megabytes on their way to disk never delay a step
/// of the order.
///
/// One process owns the file. A put that returned is on disk: `synchronous=FULL`.
package final class EmbeddedBlobStore: BlobStore, Sendable {
    /// Connections that read beside the writer.
    private static let readersMax = 2
    /// The memory for pages in each connection: blobs pass through once and are not worth caching.
    private static let cacheBytes = 2 * 1_048_576

    let pool: DatabasePool
    private let limits: StoreLimits
    private let claim: FileClaim
    /// The marks of the records' store; `nil` if that is not open.
    private let erased: ErasedScopes?

    /// Opens the file, and makes it and its folder if they are missing. Blocks.
    ///
    /// - Parameter records: the store whose erased scopes accept no blobs; `nil` if no blobs are put.
    /// - Throws: `StoreError` of kind `unavailable` with the remedy, as for the records' file.
    package init(
        path: String, beside records: EmbeddedStore? = nil, limits: StoreLimits = StoreLimits()
    ) throws(StoreError) {
        erased = records?.erased
        var options = EmbeddedStore.Options()
        options.readersMax = Self.readersMax
        options.cacheBytes = Self.cacheBytes
        self.limits = limits
        claim = try EmbeddedStore.claim(path)
        pool = try EmbeddedStore.open(path, options) { pool in
            let migrator = EmbeddedBlobSchema.migrator
            guard try !pool.read(migrator.hasBeenSuperseded) else {
                throw StoreError(.unavailable, "a later version wrote the file: run that version, or restore a backup")
            }
            try migrator.migrate(pool)
        }
    }

    /// The file of the blobs that belong to a file of records: `tidemark.sqlite` has `tidemark.blobs.sqlite`.
    package static func path(besides records: String) -> String {
        let url = URL(fileURLWithPath: records)
        guard !url.pathExtension.isEmpty else { return records + ".blobs" }
        return url.deletingPathExtension().path + ".blobs." + url.pathExtension
    }

    /// Waits for running calls, then closes the file, whose log is then empty; later calls throw. Blocks.
    package func close() throws(StoreError) {
        try EmbeddedStore.end(pool)
        claim.release()
    }

    /// One write transaction.
    package func put(
        _ blob: Blob, in scope: ScopeID, of workspace: WorkspaceID, by user: UserID, now: Milliseconds
    ) async throws(StoreError) -> BlobReceipt {
        let result = await withCheckedContinuation { continuation in
            pool.asyncWriteWithoutTransaction { [limits, erased] db in
                let step = BlobStep(db: db, workspace: workspace, limits: limits)
                let receipt = Result {
                    try erased?.check(scope, of: workspace)
                    return try step.put(blob, in: scope, by: user, now: now)
                }
                continuation.resume(returning: receipt.mapError(StoreError.init(sqlite:)))
            }
        }
        return try result.get()
    }

    package func size(
        of digest: BlobDigest, in scope: ScopeID, of workspace: WorkspaceID
    ) async throws(StoreError) -> Int? {
        try await onReader { try BlobStep.size(of: digest, in: scope, of: workspace, $0) }
    }

    package func part(
        of digest: BlobDigest, from start: Int, in scope: ScopeID, of workspace: WorkspaceID
    ) async throws(StoreError) -> [UInt8]? {
        try await onReader { db in
            guard let size = try BlobStep.size(of: digest, in: scope, of: workspace, db) else { return nil }
            if start == size { return [] }
            return try Data.fetchOne(
                db, sql: EmbeddedBlobSQL.part, arguments: [workspace.text, digest.text, start]
            ).map { Array($0) }
        }
    }

    package func usage(of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        try await onReader { db in
            let row = try Row.fetchOne(db, sql: EmbeddedBlobSQL.usage, arguments: [workspace.text])
            return BlobUsage(blobs: row?["blobs"] ?? 0, bytes: row?["octets"] ?? 0)
        }
    }

    func onReader<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        let result = await withCheckedContinuation { continuation in
            pool.asyncRead { db in
                continuation.resume(returning: Result { try body(db.get()) }.mapError(StoreError.init(sqlite:)))
            }
        }
        return try result.get()
    }
}
