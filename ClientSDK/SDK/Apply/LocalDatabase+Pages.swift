import Foundation
import GRDB
import TidemarkModel
package import TidemarkWire

extension LocalDatabase {
    /// Returns the next requests: at most one page for a collection of a scope, and as many by ids. The sender numbers
    /// them.
    ///
    /// First the records that were taken back, by their ids (R-25), since they are shown and may be wrong. Then the
    /// newest page of everything: shared scopes, since all others refer to them, then scopes by the newest grant. Then
    /// older pages, newest records first. Other collections of a scope are requested once the scope's own record is on
    /// the device, so that no messages are shown of a missing conversation.
    ///
    /// - Parameter collection: the collection whose pages come first, by the server's name.
    package func nextPages(limit: Int, first collection: String? = nil) throws -> [PageRequest] {
        try writer.read { db in
            let wanted = collection.map(names.local)
            var pages = try RefetchTable(db: db).requests(limit: limit, first: wanted, rows: limits.pageRows, names)
            // A round waits for these pages: its last look scans everything that is to come.
            if let wanted {
                pages += try nextPages(db, "p.collection = ?1", "p.floor IS NOT NULL, \(Self.turns)", [wanted, limit])
            }
            let others = "p.collection IS NOT ?1"
            for state in ["floor IS NULL", "floor IS NOT NULL"] where pages.count < limit {
                pages += try nextPages(
                    db, "\(others) AND p.\(state) AND \(isOpen)", Self.turns, [wanted, limit - pages.count])
            }
            return pages
        }
    }

    /// The order of pages: a collection whose filling has begun continues with the newest records; else by the turns of
    /// the scopes.
    private static let turns = "p.floor DESC, p.turn DESC, p.scope, p.position"

    /// A condition that is true when the scope's own record is on the device, or the page brings it.
    private var isOpen: String {
        """
        (p.collection IN (\(ownRecords)) OR NOT EXISTS (
            SELECT 1 FROM tidemark_scope_page AS own
            WHERE own.scope = p.scope AND own.is_complete = 0 AND own.collection IN (\(ownRecords))
        ))
        """
    }

    private func nextPages(
        _ db: Database, _ condition: String, _ order: String, _ arguments: StatementArguments
    ) throws -> [PageRequest] {
        let sql = """
            SELECT p.scope, p.collection, p.floor, p.remaining, s.since
            FROM tidemark_scope_page AS p
            CROSS JOIN tidemark_scope AS s ON s.scope = p.scope
            WHERE \(ScopeTable.isToCome(in: "p")) AND \(condition)
            ORDER BY \(order)
            LIMIT ?2
            """
        return try db.all(sql, arguments).map { row in
            let rows = try min(row.optionalInteger(3) ?? .max, Int64(limits.pageRows))
            return PageRequest(
                id: 0, scope: ScopeID(try row.text(0)), since: try row.integer(4),
                collection: names.stored(try row.text(1)), before: try row.optionalInteger(2), limit: Int(rows))
        }
    }

    /// The names of the collections whose records open a scope, for an SQL statement.
    private var ownRecords: String {
        schema.collections.filter { $0.scope == .ownRecord }
            .map { "'\($0.name.replacingOccurrences(of: "'", with: "''"))'" }.joined(separator: ", ")
    }

    /// Applies a page with its progress. The page is dropped if it answers a request of an older grant, or if its
    /// collection needs no more pages (R-62): the tombstones that would guard against it may be deleted. A power cut
    /// may undo the page with its progress: it is then requested again.
    ///
    /// - Parameters:
    ///   - request: the request that it answers. A page is also dropped if it does not continue at the end of the copy:
    ///     the copy may have been trimmed meanwhile, and must have no gaps.
    ///   - note: called after the commit with each decision.
    /// - Returns: false when it was dropped.
    @discardableResult
    package func apply(
        _ page: PageAnswer, to request: PageRequest? = nil, noting note: (SyncLogEvent) -> Void = { _ in }
    ) throws -> Bool {
        if let ids = request?.ids { return try apply(names.local(page), toIDs: ids, noting: note) }
        return try apply([(page, request)], noting: note) > 0
    }

    /// Applies answers that arrived together, in one transaction.
    ///
    /// - Parameter pages: answers to requests without ids.
    /// - Returns: the number of pages that were not dropped.
    @discardableResult
    package func apply(
        _ pages: [(PageAnswer, to: PageRequest?)], noting note: (SyncLogEvent) -> Void = { _ in }
    ) throws -> Int {
        let (events, applied): ([SyncLogEvent], Int) = try change(isConfirmed: false) { db in
            let records = RecordTable(db, self)
            var step = PageStep(records, rows: try RowApplier(records, deletionsKept: limits.deletionsKept))
            for (page, request) in pages { try step.take(names.local(page), to: request) }
            guard step.applied > 0 else { return ([], 0) }
            try step.finish()
            try Awaiting(db: db).retry(self)
            return (step.events, step.applied)
        }
        for event in events { note(event) }
        return applied
    }
}
