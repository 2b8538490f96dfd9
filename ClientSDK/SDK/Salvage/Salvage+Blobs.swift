import Foundation
import GRDB
import TidemarkModel

/// The bytes of a blob in a damaged file that exist nowhere else.
struct SalvagedBlob {
    let key: BlobKey
    let bytes: Data
    let created: Milliseconds
}

extension Salvage {
    /// Reads the unsent blobs one after the other, so that only one is in memory.
    ///
    /// - Returns: the number of blobs that could not be read whole.
    func readBlobs(_ body: (SalvagedBlob) throws -> Void) throws -> Int {
        try inDamaged(orElse: 0) { db in
            var unreadable = 0
            for row in rows(of: "tidemark_blob", "scope, digest, created, state", db) {
                do {
                    guard try row.text(3) == BlobTable.State.waiting.rawValue else { continue }
                    let key = try row.blobKey(0)
                    let bytes = try BlobTable(db: db).bytes(key)
                    guard let bytes, BlobDigest(of: bytes) == key.digest else {
                        unreadable += 1
                        continue
                    }
                    try body(SalvagedBlob(key: key, bytes: bytes, created: try row.integer(2)))
                } catch let error as DatabaseError where StoreError(error)?.code != .corrupt {
                    throw error
                } catch let error as StoreError where error.code != .corrupt {
                    throw error
                } catch {
                    unreadable += 1
                }
            }
            return unreadable
        }
    }
}

extension LocalDatabase {
    /// Stores a blob of a damaged file, to be sent; whatever its size, and however many there are.
    func restore(_ salvaged: SalvagedBlob) throws {
        var policy = BlobPolicy()
        (policy.maxBytes, policy.maxWaitingBytes) = (.max, .max)
        try change { db in
            try BlobTable(db: db).keep(salvaged.bytes, as: salvaged.key, policy: policy, now: salvaged.created)
        }
    }
}
