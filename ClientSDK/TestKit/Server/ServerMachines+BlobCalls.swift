import Crypto
import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

/// The server's answers to calls for blobs, by the same rules as the gateway's.
extension ServerMachines {
    /// Handles `PUT`; returns true when the scope did not have the blob before.
    mutating func putBlob(
        _ bytes: [UInt8], as digest: BlobDigest, in scope: ScopeID, by user: UserID
    ) throws(BlobRefusal) -> Bool {
        guard let bytesMax = context.limits.blobBytesMax,
            context.mayPutBlobs(in: scope, Principal(user: user), grants: grants(of: user))
        else { throw .notFound }
        guard bytes.count <= bytesMax else { throw .tooLarge(bytesMax: bytesMax) }
        guard BlobDigest(sha256: SHA256.hash(data: bytes)) == digest else { throw .otherDigest }
        switch blobs.put(Blob(digest: digest, bytes: bytes), in: scope, of: Self.workspace) {
        case .kept: return true
        case .wasThere: return false
        case .quotaUsedUp: throw .quotaUsedUp
        }
    }

    /// Handles `GET`.
    func getBlob(_ digest: BlobDigest, in scope: ScopeID, by user: UserID) throws(BlobRefusal) -> [UInt8] {
        guard context.mayGetBlobs(in: scope, Principal(user: user), grants: grants(of: user)),
            let blob = blobs.blob(digest, in: scope, of: Self.workspace)
        else { throw .notFound }
        return blob.bytes
    }

    private func grants(of user: UserID) -> [Grant] {
        tables.session(for: user, client: nil, in: Self.workspace).grants
    }
}
