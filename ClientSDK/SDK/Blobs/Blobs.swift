public import Foundation
import GRDB
public import TidemarkModel

/// The bytes that records name: photos, files. They travel apart from the records, up as soon as there is a connection,
/// down when somebody looks.
///
///     let scope = ScopeID(record: room.id)
///     try await store.write { t in
///         let digest = t.keep(jpeg, in: scope)                        // durable together with the record
///         t.create(Photo(room: room.id, file: digest))
///     }
///     let bytes = try await store.blobs.read(digest, in: scope)       // on another device: fetched, checked, kept
public struct Blobs: Sendable {
    let store: SyncStore

    /// Keeps bytes to be sent, without a record of their own: durable when this returns. `WriteBatch.keep` does so together
    /// with the record that names them.
    ///
    /// - Throws: `StoreError` with `tooLarge` or `quota` refused, by `BlobPolicy`; nothing is then kept.
    @discardableResult
    @concurrent public func keep(_ bytes: Data, in scope: ScopeID) async throws -> BlobDigest {
        let key = BlobKey(scope: scope, digest: BlobDigest(of: bytes))
        try await store.database.change { [database = store.database, now = store.environment.now()] db in
            try BlobTable(db: db).keep(bytes, as: key, policy: database.limits.cache.blobs, now: now)
        }
        store.couriers.wrote()
        return key.digest
    }

    /// The bytes: from this device when they are here, else from the server, to be kept. Callers that want the same wait
    /// for one download; who is cancelled does not end it for the others.
    ///
    /// - Throws: `BlobError` when they are not here and cannot be had; `CancellationError`.
    @concurrent public func read(_ digest: BlobDigest, in scope: ScopeID) async throws -> Data {
        let key = BlobKey(scope: scope, digest: digest)
        if let bytes = try await held(key) { return bytes }
        store.journal.askedBlob(isHere: false)
        guard let courier = store.couriers.current else {
            throw BlobError(.offline, "\(digest) is not on this device, and no connection was asked for")
        }
        return try await courier.read(key)
    }

    /// The bytes when they are here; nobody is asked.
    private func held(_ key: BlobKey) async throws -> Data? {
        let now = store.environment.now()
        let (bytes, last) = try await store.database.read { db in
            (try BlobTable(db: db).bytes(key), try BlobTable(db: db).lastUse(key))
        }
        guard let bytes else { return nil }
        store.journal.askedBlob(isHere: true)
        if let last, now - last >= BlobLimits().usedGrain {
            // A disk that takes nothing must not keep a picture from being seen.
            try? await store.database.change { db in try BlobTable(db: db).used(key, now: now) }
        }
        return bytes
    }

    /// What is to be seen of a blob: whether it is here, then its bytes, asked for again as long as somebody waits.
    ///
    ///     for try await look in store.blobs.look(at: digest, in: scope) {
    ///         if case .here(let bytes) = look { image = UIImage(data: bytes) }
    ///     }
    public func look(at digest: BlobDigest, in scope: ScopeID) -> BlobLooks {
        BlobLooks(blobs: self, digest: digest, scope: scope)
    }

    /// Where the bytes are, now and after each change.
    public func status(of digest: BlobDigest, in scope: ScopeID) -> LiveValues<BlobStatus> {
        let key = BlobKey(scope: scope, digest: digest)
        return LiveValues(
            store.database, of: ObservationOrigin("blob"), fetch: { try BlobTable(db: $0).status(key) }, map: { $0 })
    }

    /// What is not at the server yet, oldest first, with what was refused.
    public func unsent() async throws -> [UnsentBlob] {
        try await store.database.read { try BlobTable(db: $0).unsent() }
    }

    /// Sends a blob again that the server refused. The same happens by itself at the next launch.
    ///
    /// - Throws: `StoreError` with `notFound` when it was not refused.
    public func retry(_ digest: BlobDigest, in scope: ScopeID) async throws {
        let key = BlobKey(scope: scope, digest: digest)
        let isRetried = try await store.database.change { db in try BlobTable(db: db).retry(key) }
        guard isRetried else { throw StoreError(.notFound, "\(key): no such blob was refused") }
        store.couriers.wrote()
    }

    /// Gives up a blob that is not at the server: its bytes are gone, and who looks at the record finds none.
    ///
    /// - Throws: `StoreError` with `notFound` when none waits.
    public func discard(_ digest: BlobDigest, in scope: ScopeID) async throws {
        let key = BlobKey(scope: scope, digest: digest)
        let isGone = try await store.database.change { db in try BlobTable(db: db).discard(key) }
        guard isGone else { throw StoreError(.notFound, "\(key): no such blob waits to be sent") }
    }
}

extension SyncStore {
    /// The bytes that records name.
    public var blobs: Blobs { Blobs(store: self) }

    /// Somebody looks at a blob that is not here, and waits for the next attempt: time should pass.
    package var isLookedAt: Bool { couriers.isLookedAt }
}
