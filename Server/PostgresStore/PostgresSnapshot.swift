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

    /// Reads all rows, table by table, and reports faults between tables.
    package func rows(_ each: (StoredRow) throws -> Void) async throws {
        try await read("SELECT workspace, horizon FROM sync_workspace", each) {
            .workspace(WorkspaceID(try $0.text()), horizon: try $0.integer())
        }
        // In the order in which time and epoch never decrease; changed rows are elsewhere in the table.
        try await read(
            "SELECT workspace, low, \(RowReader.headColumns) FROM sync_batch ORDER BY workspace, seq", each
        ) {
            .batch(WorkspaceID(try $0.text()), low: try $0.integer(), head: try $0.head())
        }
        try await read("SELECT workspace, \(RowReader.recordColumns) FROM sync_record", each) {
            .record(WorkspaceID(try $0.text()), try $0.record())
        }
        try await places(each)
        try await read(
            "SELECT workspace, client, user_id, settled, acked, connection, kept FROM sync_client", each
        ) {
            .client(
                WorkspaceID(try $0.text()),
                ClientRow(
                    id: try $0.id(), user: UserID(try $0.text()), settledThrough: try $0.integer(),
                    ackedThrough: try $0.integer(), connection: try $0.integer()), kept: try $0.bytes())
        }
        try await read("SELECT workspace, user_id, scope, role, since FROM sync_member", each) {
            .member(
                WorkspaceID(try $0.text()), UserID(try $0.text()), ScopeID(try $0.text()), role: try $0.text(),
                since: try $0.integer())
        }
        try await read("SELECT workspace, collection, id, seq, rule, old, new FROM sync_ledger", each) {
            .ledger(
                WorkspaceID(try $0.text()), RecordKey(collection: try $0.text(), id: try $0.id()),
                StoredLedgerValue(
                    seq: try $0.integer(), rule: try $0.text(), old: try $0.optionalBytes(),
                    new: try $0.optionalBytes()))
        }
        try await blobRows(each)
    }

    private func blobRows(_ each: (StoredRow) throws -> Void) async throws {
        try await read("SELECT workspace, digest, octets FROM sync_blob", each) {
            .blob(WorkspaceID(try $0.text()), try $0.blobDigest(), bytes: try $0.integer())
        }
        try await read(
            "SELECT workspace, digest, start, bytes FROM sync_blob_part ORDER BY workspace, digest, start", each,
            rows: Self.partsPerFetch
        ) {
            .part(
                WorkspaceID(try $0.text()), try $0.blobDigest(), start: try $0.integer(), bytes: try $0.bytes())
        }
        try await read("SELECT workspace, scope, digest FROM sync_blob_scope", each) {
            .blobScope(WorkspaceID(try $0.text()), ScopeID(try $0.text()), try $0.blobDigest())
        }
        try await read("SELECT workspace, blobs, octets FROM sync_blob_usage", each) {
            .blobUsage(
                WorkspaceID(try $0.text()), BlobUsage(blobs: Int(clamping: try $0.integer()), bytes: try $0.integer()))
        }
    }

    /// Checks that searches by scope find the records.
    private func places(_ each: (StoredRow) throws -> Void) async throws {
        let found = try await run("SELECT count(*) FROM sync_probe WHERE hash = \(GuardSQL.hash)").int64(0, 0)
        guard found == 1 else {
            let text =
                "PostgreSQL hashes differently than when the places of scopes were computed, and no search finds"
                + " records: start a server, which computes them again"
            return try each(.finding(Finding(.scope, text)))
        }
        try await read(
            """
            SELECT r.workspace, r.seq
            FROM sync_record r
            JOIN sync_workspace w ON w.workspace = r.workspace
            WHERE r.place <> hashtextextended(r.scope, w.salt)
            """, each
        ) {
            let (workspace, seq) = (WorkspaceID(try $0.text()), try $0.integer())
            let text = "the record at \(seq) has the place of another scope: no device receives it"
            return .finding(Finding(.scope, workspace, text))
        }
    }

    private func read(
        _ sql: String, _ each: (StoredRow) throws -> Void, rows: Int = Self.rowsPerFetch,
        _ row: (inout RowReader) throws -> StoredRow
    ) async throws {
        _ = try await run("DECLARE tidemark_rows NO SCROLL CURSOR FOR \(sql)")
        while true {
            let page = try await run("FETCH \(rows) FROM tidemark_rows")
            for index in 0..<page.rowCount {
                var reader = RowReader(page, index)
                let found: StoredRow
                do { found = try row(&reader) } catch let error as StoreError {
                    found = .finding(Finding(.row, "a row of '\(sql)' cannot be read: \(error.reason)"))
                }
                try each(found)
            }
            if page.rowCount < rows { break }
        }
        _ = try await run("CLOSE tidemark_rows")
    }
}

extension RowReader {
    mutating func blobDigest() throws -> BlobDigest {
        guard let digest = BlobDigest(checking: try text()) else {
            throw StoreError(.invariant, "a digest is malformed")
        }
        return digest
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
