public import Foundation
import GRDB
import TidemarkModel

/// The sync state of one collection, for a line above its list.
public struct CollectionStatus: Hashable, Sendable {
    /// Records with writes that the server has not settled.
    public var pending: Int
    /// Records with writes that got no answer too often, or that wait behind such writes.
    public var stalled: Int
    /// The number of the account's scopes that are filled with the collection's records, as far back as the cache's
    /// policy says.
    public var filled: SyncProgress
    /// The server time up to which the local records are known to be current, also after a restart. `nil` before the
    /// first time, and while pages or single records of the collection are still to come. All collections that are
    /// filled share one time, since the server's changes are one order.
    public var lastSync: Date?

    public init(
        pending: Int = 0, stalled: Int = 0, filled: SyncProgress = SyncProgress(done: 0, total: 0),
        lastSync: Date? = nil
    ) {
        self.pending = pending
        self.stalled = stalled
        self.filled = filled
        self.lastSync = lastSync
    }

    static func fetch(_ db: Database, _ collection: String) throws -> CollectionStatus {
        let counts = """
            SELECT count(DISTINCT r.local_id) FILTER (WHERE o.state IN ('queued', 'sending', 'reoffered')),
                count(DISTINCT r.local_id) FILTER (WHERE o.state IN ('withdrawn', 'waiting'))
            FROM tidemark_outbox_record AS r
            JOIN tidemark_outbox AS o ON o.n = r.n
            WHERE r.collection = ?
            """
        let filled = """
            SELECT coalesce(sum(is_complete OR remaining = 0), 0), count(*),
                EXISTS (SELECT 1 FROM tidemark_refetch WHERE collection = ?1)
            FROM tidemark_scope_page
            WHERE collection = ?1
            """
        guard let waiting = try db.first(counts, [collection]), let pages = try db.first(filled, [collection]) else {
            throw StoreError(.corrupt, "\(collection): waiting writes cannot be counted")
        }
        let progress = SyncProgress(done: Int(try pages.integer(0)), total: Int(try pages.integer(1)))
        let isCurrent = try progress.done == progress.total && pages.integer(2) == 0
        let synced = try Meta.synced.integer(db)
        return CollectionStatus(
            pending: Int(try waiting.integer(0)), stalled: Int(try waiting.integer(1)), filled: progress,
            lastSync: isCurrent ? synced.map { Date(milliseconds: $0) } : nil)
    }
}

extension SyncStore {
    /// The status of a collection, now and after each change.
    ///
    /// - Throws: `StoreError` with `rejected(.unknownCollection)`.
    public func status(of collection: String) throws -> LiveValues<CollectionStatus> {
        _ = try database.table(collection)
        return LiveValues(
            database, of: ObservationOrigin("status of \(collection)"),
            fetch: { try CollectionStatus.fetch($0, collection) }, map: { $0 })
    }

    /// Syncs one collection now, before the others: sends the waiting writes, takes in new changes, and fetches the
    /// collection's pages. A call while another one waits joins it.
    ///
    ///     let status = try await store.syncNow("orders")
    ///     if status.lastSync == nil { banner.show("no connection") }
    ///
    /// Everything that waits is sent, and everything that is new is taken in, whatever collection it belongs to. Both
    /// are one order, which keeps a record from being seen before the records that it refers to. The call does not wait
    /// for pages of other collections. Like `syncNow()` it returns at once when nothing can be done now.
    ///
    /// - Throws: `CancellationError`; the work under way continues. `StoreError` with `rejected(.unknownCollection)`.
    @discardableResult
    public func syncNow(_ collection: String) async throws -> CollectionStatus {
        _ = try database.table(collection)
        await syncing.round(of: database.names.stored(collection))
        try Task.checkCancellation()
        return try await database.read { try CollectionStatus.fetch($0, collection) }
    }
}

extension Repository {
    /// The status of the collection, now and after each change: the waiting writes, the filled part, and its time.
    public var status: LiveValues<CollectionStatus> {
        LiveValues(
            store.database, of: ObservationOrigin("status of \(Model.collection)"),
            fetch: { try CollectionStatus.fetch($0, Model.collection) }, map: { $0 })
    }

    /// Syncs this collection now, before the others; see `SyncStore.syncNow(_:)`.
    @discardableResult
    public func syncNow() async throws -> CollectionStatus { try await store.syncNow(Model.collection) }
}

extension LocalDatabase {
    /// Returns the same time, and the number of scopes that did not fit on the last connection.
    func lastKnown() throws -> (sync: Date?, scopesLeftOut: Int) {
        try writer.read { db in
            let left = try Meta.scopesLeftOut.integer(db) ?? 0
            return (try Meta.synced.integer(db).map { Date(milliseconds: $0) }, Int(clamping: left))
        }
    }
}
