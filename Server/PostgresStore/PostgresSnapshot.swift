package import Logging
import TidemarkModel
package import TidemarkPostgres
package import TidemarkStore

/// A database at one moment, read beside the nodes that go on writing: one transaction of PostgreSQL, whose snapshot
/// other programs can share.
///
/// While it lasts, autovacuum keeps the versions of rows that it may still need. No other transaction waits for it.
package struct PostgresSnapshot {
    /// The rows of one fetch, which are in memory together.
    static let rowsPerFetch = 500
    /// The parts of blobs in one fetch, each a quarter of a megabyte.
    static let partsPerFetch = 32

    private let connection: PostgresConnection
    /// The snapshot's id for `pg_dump --snapshot`.
    package let id: String
    /// The schema of PostgreSQL that holds the tables.
    package let schema: String
    /// The server's version as `server_version_num`: 150004 for 15.4.
    package let serverVersion: Int

    /// Runs `body` with the database as it is now.
    ///
    /// - Parameter isExported: true if other programs share it; a standby refuses that.
    /// - Throws: `StoreError`; any error of `body`.
    package static func with<Value>(
        _ configuration: PostgresConfiguration, isExported: Bool, logger: Logger,
        _ body: (PostgresSnapshot) async throws -> Value
    ) async throws -> Value {
        try await PostgresStore.withConnection(configuration, called: "backup", logger: logger) { connection in
            do {
                let found = try await connection.run([
                    .simple("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
                    .simple("SET LOCAL statement_timeout = 0"), .simple("SET LOCAL lock_timeout = 10000"),
                    // An archive is written meanwhile, which may take any time.
                    .simple("SET LOCAL idle_in_transaction_session_timeout = 0"),
                    .simple(
                        """
                        SELECT current_schema()::text, current_setting('server_version_num')::bigint,
                            \(isExported ? "pg_export_snapshot()" : "''::text")
                        """),
                ]).last
                let answer = try found?.first { (try $0.optionalText(), Int(try $0.integer()), try $0.text()) }
                guard case (let schema?, let version, let id)? = answer else {
                    throw PostgresRestoring.noSchema
                }
                return try await body(
                    PostgresSnapshot(connection: connection, id: id, schema: schema, serverVersion: version))
            } catch let error as PostgresError {
                throw StoreError(postgres: error)
            }
        }
    }

    /// Returns the version marks of the database.
    ///
    /// - Throws: `StoreError` for a database without tables of Tidemark, or with those of a later version.
    package func state() async throws -> StoredState {
        let (generation, oldest) = try await generation()
        let own = PostgresSchema.generations.last?.number ?? PostgresSchema.landed
        guard oldest <= own else {
            throw StoreError(
                .unavailable,
                "the database is at generation \(generation) and serves \(oldest) and later, and this version is of \(own):"
                    + " run that version")
        }
        let hasSchemas = try await isThere("sync_schema")
        let revision =
            hasSchemas
            ? try await run("SELECT coalesce(max(number), 0) FROM sync_schema").first { try $0.integer() } ?? 0 : 0
        let version = try await run("SHOW server_version").first { try $0.text() } ?? ""
        return StoredState(generation: generation, oldest: oldest, revision: revision, version: version)
    }

    private func generation() async throws -> (generation: Int, oldest: Int) {
        if try await isThere("sync_fence") {
            let fence = try await run("SELECT generation::bigint, oldest::bigint FROM sync_fence").first {
                (generation: Int(try $0.integer()), oldest: Int(try $0.integer()))
            }
            guard let fence, fence.oldest != PostgresRestoring.generation else { throw PostgresRestoring.unfinished }
            return fence
        }
        guard try await isThere("sync_migration") else {
            throw StoreError(
                .unavailable,
                "the schema \(schema) has no tables of Tidemark's: is it the one that the servers' connection uses?")
        }
        // Before generations each step had a number.
        let version = try await run("SELECT max(version)::bigint FROM sync_migration").first {
            try $0.optionalInteger()
        }
        guard case let version?? = version else { throw PostgresRestoring.unfinished }
        return (Int(version), PostgresSchema.landed)
    }

    /// The bytes of all tables and their indexes.
    package func bytes() async throws -> Int64 {
        try await run(
            """
            SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
            FROM pg_class c
            WHERE c.relkind = 'r' AND c.relname LIKE 'sync\\_%' AND pg_table_is_visible(c.oid)
            """
        ).first { try $0.integer() } ?? 0
    }

    private func isThere(_ table: String) async throws -> Bool {
        try await run("SELECT to_regclass('\(table)') IS NOT NULL").first { try $0.bool() } ?? false
    }

    /// The columns of a table; none where the generation lacks it.
    private func columns(of table: String) async throws -> Set<String> {
        Set(
            try await run(
                "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass('\(table)') AND attnum > 0"
            ).all { try $0.text() })
    }

    private func run(_ sql: String) async throws -> ResultSet {
        guard let result = try await connection.run([.simple(sql)]).last else {
            throw StoreError(.unavailable, "PostgreSQL did not answer")
        }
        return result
    }

    /// Reads every row of a table, sorted if the table says so. Earlier generations lack some tables and columns.
    package func rows(of table: StoredTable, _ each: (TableRow) throws -> Void) async throws {
        let known = try await columns(of: table.name)
        guard !known.isEmpty else { return }
        let columns = table.columns.map { column in
            let name = column.postgresName
            guard known.contains(name) else { return "NULL::text" }
            return column.kind == .text ? "\(name)::text" : name
        }
        let order = table.order.map { "\(table.name).\($0)" }
        try await read(
            "SELECT \(columns.joined(separator: ", ")) FROM \(table.name)"
                + (order.isEmpty ? "" : " ORDER BY \(order.joined(separator: ", "))"),
            rows: table.columns.contains { $0.kind == .bytes } ? Self.partsPerFetch : Self.rowsPerFetch
        ) { reader in try each(table.columns.map { try reader.value($0.kind) }) }
    }

    /// Checks that searches by scope find the records.
    package func filed(_ each: (Finding) -> Void) async throws {
        guard try await columns(of: "sync_record").contains("place") else { return }
        let probe = "SELECT count(*) FROM sync_probe WHERE hash = \(GuardSQL.hash)"
        let found = try await isThere("sync_probe") ? try await run(probe).int64(0, 0) : 1
        guard found == 1 else {
            let text =
                "PostgreSQL hashes differently than when the places of scopes were computed, and no search finds"
                + " records: start a server, which computes them again"
            return each(Finding(.scope, text))
        }
        try await read(
            """
            SELECT r.workspace, r.seq
            FROM sync_record r
            JOIN sync_workspace w ON w.workspace = r.workspace
            WHERE r.place <> hashtextextended(r.scope, w.salt)
            """
        ) { row in
            let (workspace, seq) = (WorkspaceID(try row.text()), try row.integer())
            let text = "the record at \(seq) has the place of another scope: no device receives it"
            each(Finding(.scope, workspace, text))
        }
    }

    private func read(
        _ sql: String, rows: Int = Self.rowsPerFetch, _ each: (inout RowReader) throws -> Void
    ) async throws {
        _ = try await run("DECLARE tidemark_rows NO SCROLL CURSOR FOR \(sql)")
        while true {
            let page = try await run("FETCH \(rows) FROM tidemark_rows")
            for index in 0..<page.rowCount {
                var reader = RowReader(page, index)
                try each(&reader)
            }
            if page.rowCount < rows { break }
        }
        _ = try await run("CLOSE tidemark_rows")
    }
}

extension RowReader {
    fileprivate mutating func value(_ kind: StoredTable.Column.Kind) throws -> RowValue {
        if try isNull() { return skip() ?? .null }
        switch kind {
        case .text: return .text(try bytes())
        case .integer: return .integer(try integer())
        case .boolean: return .integer(try bool() ? 1 : 0)
        case .bytes: return .bytes(try bytes())
        }
    }
}

extension PostgresStore {
    /// Runs `body` with a connection of its own, without a time limit.
    static func withConnection<Value>(
        _ configuration: PostgresConfiguration, called name: String, logger: Logger,
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        var patient = configuration
        patient.connections = 1
        patient.applicationName += " \(name)"
        patient.operationTimeout = .seconds(24 * 3_600)
        let pool = try PostgresPool(configuration: patient, logger: logger)
        return try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await pool.run() }
            defer { pool.shutdown() }
            return try await pool.withConnection(body)
        }
    }
}
