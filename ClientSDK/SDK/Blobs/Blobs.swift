public import Foundation
import GRDB
public import TidemarkModel

/// The bytes that records refer to: photos, files. They travel apart from the records: to the server as soon as there
/// is a connection, from it when the app looks.
///
///     let scope = ScopeID.of(room)
///     try await store.write { t in
///         let digest = t.addBlob(jpeg, in: scope)                        // durable together with the record
///         t.create(Photo(room: room.id, file: digest))
///     }
///     let bytes = try await store.blobs.read(digest, in: scope)       // on another device: fetched, checked, kept
public struct Blobs: Sendable {
    let store: SyncStore

    /// Stores bytes to be sent, without a record of their own. They are durable when this returns. `WriteBatch.addBlob`
    /// stores them together with the record that refers to them.
    ///
    /// - Throws: `StoreError` with `tooLarge` or `quota` refused, by `BlobPolicy`; nothing is then stored.
    @discardableResult
    @concurrent public func add(_ bytes: Data, in scope: ScopeID) async throws -> BlobDigest {
        let key = BlobKey(scope: scope, digest: BlobDigest(of: bytes))
        try await store.database.change { [database = store.database, now = store.environment.now()] db in
            try BlobTable(db: db).keep(bytes, as: key, policy: database.limits.cache.blobs, now: now)
        }
        store.couriers.wrote()
        return key.digest
    }

    /// Returns the bytes: from this device, or else from the server, and then stores them. Callers that want the same
    /// blob share one download; cancelling one of them does not end it for the others.
    ///
    /// - Throws: `BlobError` when the bytes are not on the device and cannot be fetched; `CancellationError`.
    @concurrent public func read(_ digest: BlobDigest, in scope: ScopeID) async throws -> Data {
        let key = BlobKey(scope: scope, digest: digest)
        if let bytes = try await held(key) { return bytes }
        store.journal.askedBlob(isHere: false)
        guard let courier = store.couriers.current else {
            throw BlobError(.offline, "\(digest) is not on this device, and the store is not connected")
        }
        return try await courier.read(key)
    }

    /// Returns the bytes that are on the device, without asking the server.
    private func held(_ key: BlobKey) async throws -> Data? {
        let now = store.environment.now()
        let (bytes, last) = try await store.database.read { db in
            (try BlobTable(db: db).bytes(key), try BlobTable(db: db).lastUse(key))
        }
        guard let bytes else { return nil }
        store.journal.askedBlob(isHere: true)
        if let last, now - last >= BlobLimits().usedGrain {
            // A full disk must not keep a picture from being shown.
            try? await store.database.change { db in try BlobTable(db: db).used(key, now: now) }
        }
        return bytes
    }

    /// Watches a blob: its state, then its bytes. A missing blob is requested again for as long as the app iterates.
    ///
    ///     for try await look in store.blobs.observe(digest, in: scope) {
    ///         if case .here(let bytes) = look { image = UIImage(data: bytes) }
    ///     }
    public func observe(_ digest: BlobDigest, in scope: ScopeID) -> BlobContents {
        BlobContents(blobs: self, digest: digest, scope: scope)
    }

    /// Watches the state of the bytes: now and after each change.
    public func status(of digest: BlobDigest, in scope: ScopeID) -> LiveValues<BlobStatus> {
        let key = BlobKey(scope: scope, digest: digest)
        return LiveValues(
            store.database, of: ObservationOrigin("blob"), fetch: { try BlobTable(db: $0).status(key) }, map: { $0 })
    }

    /// Returns the blobs that are not on the server yet, oldest first, with those that it refused.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    public func unsent() async throws -> [UnsentBlob] {
        try await store.database.read { try BlobTable(db: $0).unsent() }
    }

    /// Sends a refused blob again. The same happens automatically at the next launch.
    ///
    /// - Throws: `StoreError` with `notFound` when the blob was not refused.
    public func retry(_ digest: BlobDigest, in scope: ScopeID) async throws {
        let key = BlobKey(scope: scope, digest: digest)
        let isRetried = try await store.database.change { db in try BlobTable(db: db).retry(key) }
        guard isRetried else { throw StoreError(.notFound, "\(key): no such blob was refused") }
        store.couriers.wrote()
    }

    /// Deletes a blob that is not on the server. Its bytes are gone: a record that refers to them finds none.
    ///
    /// - Throws: `StoreError` with `notFound` when no such blob waits to be sent.
    public func discard(_ digest: BlobDigest, in scope: ScopeID) async throws {
        let key = BlobKey(scope: scope, digest: digest)
        let isGone = try await store.database.change { db in try BlobTable(db: db).discard(key) }
        guard isGone else { throw StoreError(.notFound, "\(key): no such blob waits to be sent") }
    }
}

extension SyncStore {
    /// The bytes that records refer to.
    public var blobs: Blobs { Blobs(store: self) }

    /// True when the app looks at a missing blob and waits for the next attempt: a virtual clock should advance.
    package var isLookedAt: Bool { couriers.isLookedAt }
}
