import GRDB
import TidemarkLock
import TidemarkModel

/// The filters that no index answers. SQLite is asked for its plan when a query is seen for the first time, and
/// diagnostics report those that read everything.
final class UnindexedFilters: Sendable {
    private struct State {
        var seen: Set<Query> = []
        var found: Set<Diagnostics.UnindexedFilter> = []
    }

    private struct Query: Hashable {
        let table: String
        let clause: String
    }

    private let state = Lock(State())
    /// The most queries that are examined. A program has few; one that generates them without end is not followed
    /// further.
    private static let queriesMax = 1_000

    /// The filters that no index answers, sorted by collection and fields.
    var current: [Diagnostics.UnindexedFilter] {
        state.withLock { $0.found }.sorted { left, right in
            (left.collection, left.reads) == (right.collection, right.reads)
                ? left.fields.lexicographicallyPrecedes(right.fields)
                : (left.collection, left.reads) < (right.collection, right.reads)
        }
    }

    /// Examines a query that is about to run.
    func look(at query: RecordQuery, _ table: CollectionTable, _ db: Database) throws {
        guard !query.filtered.isEmpty else { return }
        let isNew = state.withLock { state in
            guard state.seen.count < Self.queriesMax else { return false }
            return state.seen.insert(Query(table: table.collection.name, clause: query.clause)).inserted
        }
        guard isNew, let reads = try reads(query, table, db) else { return }
        let fields = query.filtered.filter { table.collection.field($0)?.isIndexed != true }
        let found = Diagnostics.UnindexedFilter(
            collection: table.collection.name, fields: (fields.isEmpty ? query.filtered : fields).sorted(), reads: reads
        )
        state.withLock { _ = $0.found.insert(found) }
    }

    /// Returns what the query scans; `nil` when an index leads to the filtered records.
    private func reads(_ query: RecordQuery, _ table: CollectionTable, _ db: Database) throws -> String? {
        // With columns that no index contains, like the real query.
        let sql = "EXPLAIN QUERY PLAN SELECT local_id, extra FROM \(table.quotedName) \(query.clause)"
        let statement = try db.makeStatement(sql: sql)
        // `SCAN cards`, `SEARCH cards USING INDEX … (scope=? AND due>?)`.
        let steps = try Row.fetchAll(statement, arguments: StatementArguments(query.arguments)).compactMap { row in
            row["detail"] as String?
        }
        let names = query.filtered.map { table.collection.fieldName($0) }
        var columns = names.map { EnvelopeColumn(rawValue: $0)?.column ?? $0 } + ["rowid"]
        // SQLite's name for the value of a field that has a default.
        if names.contains(where: { table.collection.defaults[$0] != nil }) { columns.append("expr") }
        var reads: String?
        for step in steps {
            if step.hasPrefix("SCAN \(table.collection.name)") { return "collection" }
            guard step.hasPrefix("SEARCH \(table.collection.name)"), let start = step.lastIndex(of: "(") else {
                continue
            }
            let terms = step[start...].split { !($0.isLetter || $0.isNumber || $0 == "_") }
            if !terms.contains(where: { columns.contains(String($0)) }) { reads = "scope" }
        }
        return reads
    }
}
