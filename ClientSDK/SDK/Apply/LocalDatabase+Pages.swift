import Foundation
import GRDB
import TidemarkModel
package import TidemarkWire

extension LocalDatabase {
    /// What to fetch next, at most one page a collection of a scope, and as much by ids; the sender numbers the requests.
    ///
    /// First what was taken back, by its ids (R-25), since it is shown and not true. Then the newest page of everything: shared scopes, since all others refer to them, then scopes by the newest
    /// grant. Then further back, newest records first. What belongs to a scope is asked for once the scope's own record is
    /// here, so that nobody sees messages of a conversation that is not there.
    ///
    /// - Parameter collection: its pages come before all that; as the server calls it.
    package func nextPages(limit: Int, first collection: String? = nil) throws -> [PageRequest] {
        try writer.read { db in
            let wanted = collection.map(names.local)
            var pages = try RefetchTable(db: db).requests(limit: limit, first: wanted, rows: limits.pageRows, names)
            // A round waits for these: the last look of it goes through all that is to come.
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

    /// The order of pages: a collection that began to be filled goes on with the newest records; else by the turns of the scopes.
    private static let turns = "p.floor DESC, p.turn DESC, p.scope, p.position"

    /// The scope's own record is here, or the page is to bring it.
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

    /// Names of the collections whose records open a scope, for a statement.
    private var ownRecords: String {
        schema.collections.filter { $0.scope == .ownRecord }
            .map { "'\($0.name.replacingOccurrences(of: "'", with: "''"))'" }.joined(separator: ", ")
    }

    /// Applies a page with its progress. The answer to a question of an older grant, or of a collection that is filled
    /// already, or of which no more is wanted, is dropped (R-62): tombstones that would guard against it may be gone. A power
    /// cut may take it back with its progress: it is then asked for again.
    ///
    /// - Parameters:
    ///   - request: what it answers. A page that does not go on where the copy ends now is dropped as well: the copy may
    ///     have been trimmed meanwhile, and what is here has no gaps.
    ///   - note: told after the commit what was decided.
    /// - Returns: false when it was dropped.
    @discardableResult
    package func apply(
        _ page: PageAnswer, to request: PageRequest? = nil, noting note: (SyncLogEvent) -> Void = { _ in }
    ) throws -> Bool {
        if let ids = request?.ids { return try apply(names.local(page), toIDs: ids, noting: note) }
        return try apply([(page, request)], noting: note) > 0
    }

    /// The same for answers that came together, in one transaction.
    ///
    /// - Parameter pages: none of them to a question for ids.
    /// - Returns: how many were not dropped.
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
