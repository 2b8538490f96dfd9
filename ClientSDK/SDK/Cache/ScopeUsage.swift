import GRDB
public import TidemarkModel

/// The space that one scope's records take on this device.
public struct ScopeUsage: Hashable, Sendable, Identifiable {
    /// The scope; shared ones have their names.
    public var scope: ScopeID
    /// The records that the app can see, by the collection's name.
    public var records: [String: Int]
    /// The bytes of their values, without indexes and SQLite's overhead.
    public var bytes: Int64
    /// The setting made with `SyncStore.setRetention(_:in:)`.
    public var retention: ScopeRetention

    public var id: ScopeID { scope }

    static func fetch(_ db: Database, _ database: LocalDatabase) throws -> [ScopeUsage] {
        var usages: [ScopeID: ScopeUsage] = [:]
        for collection in database.schema.collections {
            let columns = ["local_id", "scope", "author", "extra"] + collection.fields.map { $0.name }
            // As bytes: the length of a text is its characters.
            let size = columns.map { "coalesce(length(CAST(\(CollectionTable.quoted($0)) AS BLOB)), 0)" }
                .joined(separator: " + ")
            let sql = """
                SELECT scope, count(*), sum(\(size)) FROM \(CollectionTable.quoted(collection.name)) GROUP BY scope
                """
            for row in try db.all(sql) {
                let scope = ScopeID(try row.text(0))
                var usage = usages[scope] ?? ScopeUsage(scope: scope, records: [:], bytes: 0, retention: .policy)
                usage.records[collection.name] = Int(try row.integer(1))
                usage.bytes += try row.integer(2)
                usages[scope] = usage
            }
        }
        let table = KeepingTable(db: db)
        return try usages.values.map { usage in
            var usage = usage
            usage.retention = try table.retention(of: usage.scope)
            return usage
        }
        .sorted { ($1.bytes, $0.scope) < ($0.bytes, $1.scope) }
    }
}

extension SyncStore {
    /// The scopes that have records here, the largest first. Reads all records: for a screen that is shown on demand.
    ///
    ///     for usage in try await store.usage().prefix(10) { list.append("\(usage.scope): \(usage.bytes) bytes") }
    public func usage() async throws -> [ScopeUsage] {
        try await database.read { [database] db in try ScopeUsage.fetch(db, database) }
    }
}
