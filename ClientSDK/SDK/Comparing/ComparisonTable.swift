import GRDB
import TidemarkModel
import TidemarkWire

/// The ranges that are still to be compared with the server: creation numbers of a collection in a scope.
struct ComparisonTable {
    struct Range {
        var scope: ScopeID
        var collection: String
        var low: SequenceNumber
        /// The first number after the range; `Int64.max` to include the newest records.
        var high: SequenceNumber
        /// True when the records have to be listed one by one, since their digests differ.
        var isListed: Bool
    }

    let db: Database

    var isEmpty: Bool { get throws { try !db.exists("SELECT 1 FROM tidemark_compare LIMIT 1") } }

    /// True while the comparison replaces filling (``CopyFilling``): until it ends, records here may be long out of
    /// date.
    var isFilling: Bool { get throws { try Meta.behind.integer(db) == 1 && !isEmpty } }

    func endFilling() throws { try Meta.behind.set(0, db) }

    /// Begins a comparison of everything that is held.
    ///
    /// - Parameter isFilling: true when it replaces filling, or continues to.
    func begin(now: Milliseconds, isFilling: Bool) throws {
        try Meta.behind.set(isFilling ? 1 : 0, db)
        try db.run("DELETE FROM tidemark_compare")
        try db.run(
            """
            INSERT INTO tidemark_compare (scope, collection, high, low, is_listed)
            SELECT scope, collection, ?, 0, 0 FROM tidemark_scope_page WHERE is_complete = 1 OR floor IS NOT NULL
            """, [SequenceNumber.max])
        try Meta.compared.set(now, db)
        try Meta.comparedRecords.set(0, db)
    }

    /// Returns the next range to ask for, in a scope that is not being filled: ranges that differ come first.
    func next() throws -> (range: Range, since: SequenceNumber)? {
        let sql = """
            SELECT c.scope, c.collection, c.low, c.high, c.is_listed, s.since
            FROM tidemark_compare AS c
            JOIN tidemark_scope AS s ON s.scope = c.scope
            WHERE NOT EXISTS (SELECT 1 FROM tidemark_refetch AS r WHERE r.scope = c.scope)
                AND NOT EXISTS (
                    SELECT 1 FROM tidemark_scope_page AS p
                    WHERE p.scope = c.scope AND p.is_complete = 0 AND (p.remaining IS NULL OR p.remaining > 0)
                )
            ORDER BY c.is_listed DESC, c.scope, c.collection, c.high DESC
            LIMIT 1
            """
        return try db.first(sql).map { row in
            let range = Range(
                scope: ScopeID(try row.text(0)), collection: try row.text(1), low: try row.integer(2),
                high: try row.integer(3), isListed: try row.integer(4) != 0)
            return (range, try row.integer(5))
        }
    }

    func add(_ range: Range) throws {
        guard range.low < range.high else { return }
        try db.run(
            """
            INSERT OR REPLACE INTO tidemark_compare (scope, collection, high, low, is_listed) VALUES (?, ?, ?, ?, ?)
            """, [range.scope.text, range.collection, range.high, range.low, range.isListed ? 1 : 0])
    }

    /// - Returns: the range that ended so; `nil` when it need not be compared any more.
    func take(_ scope: ScopeID, _ collection: String, high: SequenceNumber) throws -> Range? {
        let key: StatementArguments = [scope.text, collection, high]
        let found = "SELECT low, is_listed FROM tidemark_compare WHERE scope = ? AND collection = ? AND high = ?"
        guard let row = try db.first(found, key) else { return nil }
        try db.run("DELETE FROM tidemark_compare WHERE scope = ? AND collection = ? AND high = ?", key)
        return Range(
            scope: scope, collection: collection, low: try row.integer(0), high: high,
            isListed: try row.integer(1) != 0)
    }

    /// Returns the creation number from which on all records are here; `nil` if the copy claims none.
    func floor(of collection: String, in scope: ScopeID) throws -> SequenceNumber? {
        let sql = "SELECT is_complete, floor FROM tidemark_scope_page WHERE scope = ? AND collection = ?"
        guard let row = try db.first(sql, [scope.text, collection]) else { return nil }
        return try row.integer(0) != 0 ? 0 : row.optionalInteger(1)
    }
}
