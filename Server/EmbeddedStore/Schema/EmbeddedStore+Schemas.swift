import GRDB
package import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

extension EmbeddedStore: SchemaStore {
    /// One write transaction if the revision is the next one, none otherwise.
    package func begin(with revision: SchemaRevision?) async throws(StoreError) -> SchemaBeginning {
        let newest = try await self.revision(after: 0)
        guard let revision else { return SchemaBeginning(newest: newest, isKnown: false) }
        if revision.number == (newest?.number ?? 0) + 1 { _ = try await keep(revision) }
        let isKnown = try await onReader { db in
            try Prepared(Self.known, db).first({ $0.text(revision.document) }) { $0.integer() } != nil
        }
        return SchemaBeginning(newest: try await self.revision(after: 0), isKnown: isKnown)
    }

    /// See `SchemaStore.revision(after:)`.
    package func revision(after number: Int64) async throws(StoreError) -> SchemaRevision? {
        try await onReader { db in
            try Prepared(Self.newest, db).first({ $0.integer(number) }) { try $0.revision() }
        }
    }

    /// See `SchemaStore.keep`: one statement, which finds the newest revision itself.
    package func keep(_ revision: SchemaRevision) async throws(StoreError) -> Bool {
        try await onWriter { db in
            try Prepared(Self.insert, db).execute {
                $0.integer(revision.number)
                $0.integer(revision.applied)
                $0.text(revision.document)
                $0.text(revision.requirement.description)
                $0.text(revision.note)
            } == 1
        }
    }

    /// See `SchemaStore.apps`: reads all clients.
    package func apps(seenAfter time: Milliseconds, limit: Int) async throws(StoreError) -> [AppCount] {
        try await onReader { db in
            try Prepared(Self.apps, db).all(
                {
                    $0.integer(time)
                    $0.integer(Int64(limit))
                }, { AppCount(app: $0.optionalText(), devices: $0.integer(), seen: $0.integer()) })
        }
    }

    /// See `SchemaStore.count`: a range of rows in one snapshot.
    package func count(
        _ fields: [RecordCount.Field], from cursor: RecordCount.Place?
    ) async throws(StoreError) -> RecordCount {
        let start: Int64 = if case .row(let row)? = cursor { row } else { 0 }
        return try await onReader { db in
            var count = RecordCount()
            let last = try Prepared("SELECT coalesce(max(row), 0) FROM sync_record", db).first({ _ in }) {
                $0.integer()
            }
            let (end, overflows) = start.addingReportingOverflow(Self.rowsPerStep)
            guard let last, last > start, !overflows else { return count }
            func bind(_ binding: inout Binding) {
                binding.integer(start)
                binding.integer(end)
            }
            try Prepared(Self.countRecords, db).forEach(bind) { row in
                count.records[row.text()] = row.integer()
                return true
            }
            for field in fields {
                count.values[field] =
                    try Prepared(Self.countValues, db).first(
                        {
                            bind(&$0)
                            $0.text(field.collection)
                            $0.text("$.\"\(field.name)\"")
                        }, { $0.integer() }) ?? 0
            }
            if last > end { count.next = .row(end) }
            return count
        }
    }

    private static let rowsPerStep: Int64 = 50_000

    private static let newest = """
        SELECT number, applied, document, min_app, note
        FROM sync_schema
        WHERE number > ?
        ORDER BY number DESC
        LIMIT 1
        """

    private static let insert = """
        INSERT INTO sync_schema (number, applied, document, min_app, note)
        SELECT ?1, ?2, ?3, ?4, ?5
        WHERE ?1 = 1 + (SELECT coalesce(max(number), 0) FROM sync_schema)
        """

    private static let known = "SELECT number FROM sync_schema WHERE document = ? LIMIT 1"

    private static let apps = """
        SELECT app, count(*), max(max(seen, registered))
        FROM sync_client
        WHERE max(seen, registered) > ?
        GROUP BY app
        ORDER BY count(*) DESC, app
        LIMIT ?
        """

    private static let countRecords = """
        SELECT collection, count(*)
        FROM sync_record
        WHERE row > ? AND row <= ? AND deleted = 0
        GROUP BY collection
        """

    private static let countValues = """
        SELECT count(*)
        FROM sync_record
        WHERE row > ? AND row <= ? AND deleted = 0 AND collection = ? AND json_extract(body, ?) IS NOT NULL
        """
}

extension ColumnReader {
    fileprivate mutating func revision() throws -> SchemaRevision {
        let number = integer()
        let applied = integer()
        let document = bytes()
        guard let requirement = AppRequirement(text()) else {
            throw StoreError(.invariant, "the required apps of schema revision \(number) are invalid")
        }
        return SchemaRevision(
            number: number, document: document, requirement: requirement, applied: applied, note: text())
    }
}
