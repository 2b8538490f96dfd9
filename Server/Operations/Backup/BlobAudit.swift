import Crypto
import TidemarkModel
import TidemarkStore

/// Hashes blobs from their parts: each part as it arrives if it is in order, as it nearly always is.
struct BlobAudit {
    /// The maximum number of bytes kept in parts that arrived before their predecessor.
    static let aheadBytesMax = 64 << 20

    private struct Key: Hashable {
        let workspace: WorkspaceID
        let digest: BlobDigest
    }

    private struct Blob {
        let bytes: Int64
        /// The bytes hashed so far; equal to `bytes` when the blob is complete.
        var hashed: Int64 = 0
        /// `nil` before the first part and after the last one.
        var hash: SHA256?
        var ahead: [Int64: [UInt8]] = [:]
        var isJudged = false
    }

    private var blobs: [Key: Blob] = [:]
    private var aheadBytes = 0

    func contains(_ workspace: WorkspaceID, _ digest: BlobDigest) -> Bool {
        blobs[Key(workspace: workspace, digest: digest)] != nil
    }

    mutating func begin(_ workspace: WorkspaceID, _ digest: BlobDigest, bytes: Int64) -> Finding? {
        blobs[Key(workspace: workspace, digest: digest)] = Blob(bytes: bytes)
        return bytes < 0 ? Finding(.blob, workspace, "blob \(digest) has \(bytes) bytes") : nil
    }

    mutating func take(
        _ workspace: WorkspaceID, _ digest: BlobDigest, start: Int64, _ bytes: [UInt8]
    ) -> Finding? {
        let key = Key(workspace: workspace, digest: digest)
        guard var blob = blobs[key] else {
            return Finding(.blob, workspace, "a part of blob \(digest) exists, and the blob does not")
        }
        guard !blob.isJudged else { return nil }
        // Taken out while it changes: otherwise the hash state would be copied with each part.
        blobs[key] = nil
        defer { blobs[key] = blob }
        if start != blob.hashed {
            guard start > blob.hashed, aheadBytes + bytes.count <= Self.aheadBytesMax else {
                blob.isJudged = true
                return Finding(.blob, workspace, "a part of blob \(digest) begins at \(start), not at \(blob.hashed)")
            }
            aheadBytes += bytes.count
            blob.ahead[start] = bytes
            return nil
        }
        blob.hash = blob.hash ?? SHA256()
        blob.hash?.update(data: bytes)
        blob.hashed += Int64(bytes.count)
        while let next = blob.ahead.removeValue(forKey: blob.hashed) {
            aheadBytes -= next.count
            blob.hash?.update(data: next)
            blob.hashed += Int64(next.count)
        }
        guard blob.hashed >= blob.bytes else { return nil }
        blob.isJudged = true
        let hash = blob.hash?.finalize()
        blob.hash = nil
        guard blob.hashed == blob.bytes else {
            return Finding(.blob, workspace, "blob \(digest) has \(blob.hashed) bytes or more, not \(blob.bytes)")
        }
        if let hash, BlobDigest(sha256: hash) == digest { return nil }
        return Finding(.blob, workspace, "the bytes of blob \(digest) were changed: their SHA-256 is not its name")
    }

    /// Returns findings for the blobs that are incomplete.
    func end() -> [Finding] {
        blobs.filter { !$0.value.isJudged && $0.value.hashed < $0.value.bytes }
            .sorted { ($0.key.workspace, $0.key.digest) < ($1.key.workspace, $1.key.digest) }
            .map { key, blob in
                Finding(.blob, key.workspace, "blob \(key.digest) has \(blob.hashed) of \(blob.bytes) bytes")
            }
    }
}
