import GRDB
import TidemarkModel
package import TidemarkWire

extension LocalDatabase {
    /// What to fetch next, at most one page a collection of a scope, and as much by ids; the sender numbers the requests.
    ///
    /// First what was taken back, by its ids, since it is shown and not true. Then the newest page of everything: shared scopes, since all others refer to them, then scopes by the newest
    /// grant. Then further back, newest records first. What belongs to a scope is asked for once the scope's own record is
    /// here, so that nobody sees messages of a conversation that is not there.
    ///
    /// - Parameter collection: its pages come before all that; as the server calls it.
    package func nextPages(limit: Int, first collection: String? = nil) throws -> [PageRequest] {
        try writer.read { db in
            let byIDs = try RefetchTable(db: db).requests(
                limit: limit, first: collection.map(names.local), rows: limits.pageRows, names)
            let sql = """
                SELECT p.scope, s.since, p.collection, p.floor, p.remaining
                FROM tidemark_scope_page AS p
                JOIN tidemark_scope AS s ON s.scope = p.scope
                WHERE p.is_complete = 0 AND (p.remaining IS NULL OR p.remaining > 0)
                    AND (p.collection = ?1 OR p.collection IN (SELECT value FROM json_each(?2)) OR NOT EXISTS (
                        SELECT 1 FROM tidemark_scope_page AS own
                        WHERE own.scope = p.scope AND own.is_complete = 0
                            AND own.collection IN (SELECT value FROM json_each(?2))
                    ))
                ORDER BY p.collection = ?1 DESC, p.floor IS NOT NULL, p.floor DESC, s.since = 0 DESC, s.since DESC,
                    p.scope, p.position
                LIMIT ?3
                """
            let pages = try db.all(sql, [collection.map(names.local), ownRecords, limit]).map { row in
                let rows = try min(row.optionalInteger(4) ?? .max, Int64(limits.pageRows))
                return PageRequest(
                    id: 0, scope: ScopeID(try row.text(0)), since: try row.integer(1),
                    collection: names.stored(try row.text(2)),
                    before: try row.optionalInteger(3), limit: Int(rows))
            }
            return byIDs + pages
        }
    }

    /// Names of the collections whose records open a scope, as a JSON array.
    private var ownRecords: String {
        let names = schema.collections.filter { if case .ownRecord = $0.scope { true } else { false } }.map(\.name)
        return FieldValue.array(names.map { .string($0) }).json
    }

    /// Applies a page with its progress. The answer to a question of an older grant, or of a collection that is filled
    /// already, or of which no more is wanted, is dropped: tombstones that would guard against it may be gone. A power
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
        let page = names.local(page)
        if let ids = request?.ids { return try apply(page, toIDs: ids, noting: note) }
        let events: [SyncLogEvent]? = try change(isConfirmed: false) { db in
            let scopes = ScopeTable(db: db)
            let progress = """
                SELECT \(ScopeTable.isToCome), floor FROM tidemark_scope_page WHERE scope = ? AND collection = ?
                """
            guard let held = try scopes.held(page.scope), held.since == page.since,
                let row = try db.first(progress, [page.scope.text, page.collection]), try row.integer(0) != 0,
                try request.map({ try $0.before == row.optionalInteger(1) }) ?? true
            else { return nil }
            let records = RecordTable(db, self)
            var rebase = Rebase(records: records)
            var rows = try RowApplier(records, deletionsKept: limits.deletionsKept)
            try rows.apply(page.changes, isFilling: true, rebase: &rebase)
            try rows.finish()
            try rebase.finish()
            try db.run(
                "UPDATE tidemark_scope_page SET remaining = max(0, remaining - ?) WHERE scope = ? AND collection = ?",
                [page.changes.count, page.scope.text, page.collection])
            if let next = page.next {
                try db.run(
                    """
                    UPDATE tidemark_scope_page SET floor = min(coalesce(floor, ?), ?)
                    WHERE scope = ? AND collection = ?
                    """, [next, next, page.scope.text, page.collection])
            } else {
                try db.run(
                    "UPDATE tidemark_scope_page SET is_complete = 1 WHERE scope = ? AND collection = ?",
                    [page.scope.text, page.collection])
            }
            if try scopes.endIfFilled(page.scope) { try records.sweep(page.scope) }
            try scopes.noteChange()
            try Awaiting(db: db).retry(self)
            return rebase.events
        }
        for event in events ?? [] { note(event) }
        return events != nil
    }
}
