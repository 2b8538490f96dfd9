package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

/// Runs on the connections for reads: megabytes never occupy the order's own connections.
extension PostgresStore: BlobStore {
    /// See `BlobStore.put`: one transaction, with a round trip for each part, so that only one is in memory.
    package func put(
        _ blob: Blob, in scope: ScopeID, of workspace: WorkspaceID, by user: UserID, now: Milliseconds
    ) async throws(StoreError) -> BlobReceipt {
        let begin = transactions.beginWrite + [FenceSQL.check(generation)]
        return try await on(reading) { connection in
            // After an early return, the end of the lease rolls the transaction back.
            let found = Results(
                try await connection.run(
                    begin + [
                        Self.size(of: blob.digest, in: scope, of: workspace), Statement(BlobSQL.usage, workspace),
                        Statement(BlobSQL.insertBlob, workspace) {
                            $0.add(text: blob.digest.text)
                            $0.add(Int64(blob.bytes.count))
                            $0.add(BlobStage.needed(since: now).stored)
                        },
                    ]
                ).dropFirst(begin.count))
            guard try found[0].first({ try $0.integer() }) == nil else {
                // The blob's renewal must not be rolled back.
                _ = try await connection.run([Transactions.commit])
                return .wasThere
            }
            let isNew = try found[2].first { try $0.bool() } == true
            if isNew {
                let held = try found[1].first { try $0.usage() } ?? BlobUsage()
                guard options.limits.hasRoom(for: blob, beside: held.bytes),
                    try await bring(blob, to: workspace, connection)
                else { return .quotaUsedUp }
            }
            let ended = try await connection.run([
                Statement(BlobSQL.shareWorkspace, workspace),
                Statement(ErasureSQL.refuse, workspace) { $0.add(text: scope.text) },
                Statement(BlobSQL.insertScope, workspace) {
                    $0.add(text: scope.text)
                    $0.add(text: blob.digest.text)
                    $0.add(text: user.text)
                    $0.add(now)
                }, Transactions.commit,
            ])
            return ended.dropFirst(2).first.map { $0.rowCount > 0 } == true ? .kept : .wasThere
        }
    }

    /// Writes the parts and counts the bytes; false if others have used up the quota meanwhile.
    private func bring(
        _ blob: Blob, to workspace: WorkspaceID, _ connection: PostgresConnection
    ) async throws -> Bool {
        for start in blob.partStarts {
            let part = Statement(BlobSQL.insertPart, workspace) {
                $0.add(text: blob.digest.text)
                $0.add(Int64(start))
                $0.add(bytes: Array(blob.part(from: start)))
            }
            _ = try await connection.run([part])
        }
        let count = Statement(BlobSQL.count, workspace) {
            $0.add(Int64(blob.bytes.count))
            $0.add(options.limits.blobBytesPerWorkspaceMax - Int64(blob.bytes.count))
        }
        return try await connection.run([count]).first.map { $0.rowCount > 0 } ?? false
    }

    /// See `BlobStore.size`.
    package func size(
        of digest: BlobDigest, in scope: ScopeID, of workspace: WorkspaceID
    ) async throws(StoreError) -> Int? {
        try await read([Self.size(of: digest, in: scope, of: workspace)])[0].first { Int(try $0.integer()) }
    }

    /// See `BlobStore.part`.
    package func part(
        of digest: BlobDigest, from start: Int, in scope: ScopeID, of workspace: WorkspaceID
    ) async throws(StoreError) -> [UInt8]? {
        let results = try await read([
            Self.size(of: digest, in: scope, of: workspace),
            Statement(BlobSQL.part, workspace) {
                $0.add(text: digest.text)
                $0.add(Int64(start))
            },
        ])
        guard let size = try results[0].first({ Int(try $0.integer()) }) else { return nil }
        if start == size { return [] }
        return try results[1].first { try $0.bytes() }
    }

    private static func size(of digest: BlobDigest, in scope: ScopeID, of workspace: WorkspaceID) -> Statement {
        Statement(BlobSQL.size, workspace) {
            $0.add(text: scope.text)
            $0.add(text: digest.text)
        }
    }

    /// See `BlobStore.usage`.
    package func usage(of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        try await read([Statement(BlobSQL.usage, workspace)])[0].first { try $0.usage() } ?? BlobUsage()
    }
}

extension RowReader {
    fileprivate mutating func usage() throws -> BlobUsage { BlobUsage(blobs: Int(try integer()), bytes: try integer()) }
}
