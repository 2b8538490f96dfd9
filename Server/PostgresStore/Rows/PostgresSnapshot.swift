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
        guard try await run("SELECT to_regclass('sync_fence') IS NOT NULL").first({ try $0.bool() }) == true else {
            throw StoreError(
                .unavailable,
                "the schema \(schema) has no tables of a release of Tidemark: is it the one that the servers' connection"
                    + " uses?")
        }
        let fence = try await run("SELECT generation::bigint, oldest::bigint FROM sync_fence").first {
            GenerationState(generation: Int(try $0.integer()), oldest: Int(try $0.integer()))
        }
        guard let fence, fence.oldest != PostgresRestoring.generation else { throw PostgresRestoring.unfinished }
        try fence.check(first: PostgresSchema.first, own: PostgresExamination.own)
        let revision = try await run("SELECT coalesce(max(number), 0) FROM sync_schema").first { try $0.integer() } ?? 0
        let version = try await run("SHOW server_version").first { try $0.text() } ?? ""
        return StoredState(generation: fence.generation, oldest: fence.oldest, revision: revision, version: version)
    }

    private func run(_ sql: String) async throws -> ResultSet {
        guard let result = try await connection.run([.simple(sql)]).last else {
            throw StoreError(.unavailable, "PostgreSQL did not answer")
        }
        return result
    }

    /// Reads every row of a table, sorted if the table says so.
    package func rows(of table: StoredTable, _ each: (TableRow) throws -> Void) async throws {
        let columns = table.columns.map { $0.kind == .text ? "\($0.postgresName)::text" : $0.postgresName }
        let order = table.order.map { "\(table.name).\($0)" }
        try await read(
            "SELECT \(columns.joined(separator: ", ")) FROM \(table.name)"
                + (order.isEmpty ? "" : " ORDER BY \(order.joined(separator: ", "))"),
            rows: table.columns.contains { $0.kind == .bytes } ? Self.partsPerFetch : Self.rowsPerFetch
        ) { reader in try each(table.columns.map { try reader.value($0.kind) }) }
    }

    /// Checks that searches by scope find the records.
    package func filed(_ each: (Finding) -> Void) async throws {
        let found = try await run("SELECT count(*) FROM sync_probe WHERE hash = \(GuardSQL.hash)").int64(0, 0)
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
