import Foundation
import GRDB
import TidemarkModel

/// Operations on blobs, each one a transaction. They block until the writer is free.
extension LocalDatabase {
    /// Returns the bytes of a blob that has to be sent.
    func unsentBlob(_ key: BlobKey) throws -> Data? {
        try writer.read { db in
            let table = BlobTable(db: db)
            return try table.state(key) == .waiting ? table.bytes(key) : nil
        }
    }

    /// Returns the id of this device at the server; `nil` before its first connection.
    func registeredClient() async throws -> ClientID? {
        try await writer.read { db in
            guard try Meta.registered.integer(db) == 1 else { return nil }
            return try Meta.client.text(db).flatMap { UniqueID($0) }
        }
    }

    func nextBlobs(limit: Int) throws -> [BlobKey] { try writer.read { try BlobTable(db: $0).next(limit: limit) } }

    /// Stores the result of an attempt to send a blob. If the blob is now on the server and does not fit, it may be
    /// evicted at once.
    func note(_ end: BlobUploadEnd, of key: BlobKey) throws {
        try change { [policy = limits.cache.blobs] db in
            let table = BlobTable(db: db)
            switch end {
            case .gone: break
            case .sent:
                try table.sent(key)
                try table.evict(above: policy.maxHeldBytes)
            case .refused(let failure, let error): try table.notSent(key, failure, error: error)
            case .later(let error, _): try table.notSent(key, nil, error: error)
            }
        }
    }

    /// Stores bytes from the server; the least recently used blobs make room.
    ///
    /// - Returns: false when the scope is not held (any more); nothing is then stored.
    func hold(_ bytes: Data, as key: BlobKey, now: Milliseconds) throws -> Bool {
        try change { [policy = limits.cache.blobs] db in
            let table = BlobTable(db: db)
            guard try table.hold(bytes, as: key, now: now) else { return false }
            try table.evict(above: policy.maxHeldBytes)
            return true
        }
    }
}
