import Foundation
import GRDB
public import TidemarkModel

/// The records of a collection in one scope that are older than those on the device.
public struct OlderRecords: Hashable, Sendable {
    /// True when the server may have older records than those on the device.
    public var exist: Bool
    /// True when older records are requested and will arrive as soon as there is a connection.
    public var isLoading: Bool

    public init(exist: Bool, isLoading: Bool = false) {
        self.exist = exist
        self.isLoading = isLoading
    }

    static func fetch(_ db: Database, _ collection: String, _ scope: ScopeID) throws -> OlderRecords {
        let sql = """
            SELECT is_complete, remaining IS NULL OR remaining > 0 FROM tidemark_scope_page
            WHERE scope = ? AND collection = ?
            """
        guard let row = try db.first(sql, [scope.text, collection]) else {
            return OlderRecords(exist: false, isLoading: false)
        }
        let exist = try row.integer(0) == 0
        return OlderRecords(exist: exist, isLoading: try exist && row.integer(1) != 0)
    }
}

extension Repository {
    /// The scope's older records that are not on the device, now and after each change. Show "more" while they `exist`.
    public func olderRecords(in scope: ScopeID) -> LiveValues<OlderRecords> {
        LiveValues(
            store.database, of: ObservationOrigin("older \(Model.collection)"),
            fetch: { try OlderRecords.fetch($0, Model.collection, scope) }, map: { $0 })
    }

    /// Asks for older records of a scope: those that the cache's filling left at the server, and those that were
    /// evicted. Returns at once; they arrive like all others, and the request survives a restart.
    ///
    ///     if try await !messages.loadOlder(in: scope) { list.showsBeginning = true }
    ///
    /// - Parameters:
    ///   - scope: the scope of the records.
    ///   - count: the number of records, in whole pages from the end of the present ones.
    /// - Returns: false when all records are on the device or requested.
    @discardableResult
    public func loadOlder(in scope: ScopeID, count: Int = 50) async throws -> Bool {
        let isAsked = try store.database.wantOlder(Model.collection, in: scope, count: count)
        store.journal.askedOlder(isHere: !isAsked)
        if isAsked { store.syncing.post(.wantsPages) }
        return isAsked
    }
}
