import GRDB
import TidemarkModel

/// A search in one collection as SQL, checked against the schema.
struct SearchQuery: Sendable {
    /// A row that was found.
    struct Found: Hashable, Sendable {
        var row: StoredRow
        var snippet: String
    }

    private let table: CollectionTable
    private let index: String
    private let sql: String
    /// The query for words that few records have: it looks up the found rows. `sql` may scan the records in their order
    /// until enough are found, which takes long for such words.
    private let rareSQL: String
    private let arguments: StatementArguments
    private let pattern: String?

    /// - Throws: `StoreError` with `unknownName` for a collection without searchable fields, or a field that the schema
    ///   does not have; `coding` for a value of another type.
    init(
        _ table: CollectionTable, _ terms: SearchTerms, where filter: Filter?, order: SearchKey, limit: Int,
        in scope: ScopeID?
    ) throws {
        try StoreError.check(limit: limit)
        let searched = SearchIndex(table.collection)
        guard searched.isWanted else {
            throw StoreError(
                .unknownName, "\(table.collection.name): the schema marks no field with \"search\": true")
        }
        self.table = table
        index = CollectionTable.quoted(searched.table)
        pattern = terms.pattern
        var writer = RecordQuery.Writer(table: table)
        writer.values.append((terms.pattern ?? "").databaseValue)
        var conditions: [String] = []
        if let scope {
            conditions.append("scope = ?")
            writer.values.append(scope.text.databaseValue)
        }
        if let filter { conditions.append(try writer.condition(filter.node)) }
        let columns = table.columnsSQL
        let source = CollectionTable.quoted(table.collection.name)
        let condition = conditions.isEmpty ? "" : "AND \(conditions.joined(separator: " AND "))"
        // The index is queried in a subquery, so that its columns do not hide the collection's.
        switch order {
        case .relevance:
            sql = """
                SELECT \(columns), _hit
                FROM (SELECT rowid AS _hit, rank AS _rank FROM \(index) WHERE \(index) MATCH ?)
                JOIN \(source) ON \(source)._rowid_ = _hit
                WHERE 1 \(condition)
                ORDER BY _rank, server_id DESC
                LIMIT ?
                """
        case .records(let order):
            sql = """
                SELECT \(columns), _rowid_
                FROM \(source)
                WHERE _rowid_ IN (SELECT rowid FROM \(index) WHERE \(index) MATCH ?) \(condition)
                ORDER BY \(try writer.order(order))
                LIMIT ?
                """
        }
        // A term with a sign before it does not use an index.
        rareSQL = sql.replacing("AND scope = ?", with: "AND +scope = ?")
        writer.values.append(limit.databaseValue)
        arguments = StatementArguments(writer.values)
    }

    /// - Throws: `RowsWait` when the index is behind the table; see ``LocalDatabase/readIndexed(_:)``.
    func fetch(_ db: Database) throws -> [Found] {
        guard let pattern else {
            // Read all the same, so that an observation with an empty text observes this collection.
            _ = try db.first("SELECT 1 FROM \(CollectionTable.quoted(table.collection.name)) LIMIT 1")
            return []
        }
        guard try !table.search.isBehind(db) else { throw RowsWait() }
        var found: [Found] = []
        for row in try db.all(try isRare(pattern, db) ? rareSQL : sql, arguments) {
            let (record, state) = try table.record(row)
            let place: Int64 = try row.integer(row.count - 1)
            found.append(
                Found(row: StoredRow(record: record, state: state), snippet: try snippet(place, pattern, db)))
        }
        return found
    }

    /// Returns true when few enough rows match to look at each of them.
    private func isRare(_ pattern: String, _ db: Database) throws -> Bool {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM \(index) WHERE \(index) MATCH ? LIMIT ?)"
        return try db.first(sql, [pattern, SearchLimits.rareMax])?.integer(0) ?? 0 < SearchLimits.rareMax
    }

    /// Snippets are made only for returned rows: cutting text is the expensive part.
    private func snippet(_ place: Int64, _ pattern: String, _ db: Database) throws -> String {
        let sql = """
            SELECT snippet(\(index), -1, ?, ?, '…', \(SearchLimits.snippetWords))
            FROM \(index)
            WHERE \(index) MATCH ? AND rowid = ?
            """
        let arguments: StatementArguments = [SearchSnippet.opening, SearchSnippet.closing, pattern, place]
        return try db.first(sql, arguments)?.optionalText(0) ?? ""
    }
}
