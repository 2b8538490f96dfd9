import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// Makes the tables, or brings those of an earlier version of Tidemark or PostgreSQL up to date; needs no `run()`.
    ///
    /// Several nodes may call it at once: one does the work, the others wait. Where nothing is missing, a role that
    /// may not make tables is enough.
    ///
    /// What takes longer than `migrationTimeout` is all done or not at all, whatever becomes of this process.
    ///
    /// - Throws: `StoreError` of kind `unavailable` with what to do about it.
    package func migrate() async throws(StoreError) {
        do {
            try await withOwnPool { pool in
                try await pool.withConnection { try await Self.migrate($0) }
                try await pool.withConnection { try await mendPlaces($0) }
            }
        } catch PostgresError.timeout {
            throw StoreError(
                .unavailable,
                "bringing the tables up to date takes longer than \(options.migrationTimeout.milliseconds / 1_000) s;"
                    + " PostgreSQL may still be at it, and nothing is half done: start again, which waits for that, and"
                    + " give it more time (MIGRATION_MINUTES among the limits of 'tidemark serve')")
        } catch {
            throw StoreError(postgres: error)
        }
    }

    /// Runs `body` with a connection that lives as long, and with the patience of a migration; needs no `run()`.
    func withOwnPool<Value>(_ body: (PostgresPool) async throws -> Value) async throws -> Value {
        var patient = configuration
        patient.connections = 1
        patient.operationTimeout = options.migrationTimeout
        let pool = try PostgresPool(configuration: patient, logger: logger)
        return try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await pool.run() }
            defer { pool.shutdown() }
            return try await body(pool)
        }
    }

    private static func migrate(_ connection: PostgresConnection) async throws {
        let found = try await connection.run([
            .simple("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"), .simple(lockSchema),
            .simple("SELECT current_setting('server_encoding'), to_regclass('sync_migration')::text"),
        ])
        guard let database = found.last else { return }
        guard try database.text(0, 0) == "UTF8" else {
            throw StoreError(.unavailable, "the database is not in UTF-8: make one with ENCODING 'UTF8'")
        }
        let isNew = try database.isNull(0, 1)
        let version = isNew ? 0 : try await version(connection)
        let steps = PostgresSchema.steps
        guard version <= steps.count else {
            throw StoreError(
                .unavailable,
                "a later version of Tidemark (schema \(version), this one knows \(steps.count)) has used the database:"
                    + " run that version, or restore a backup")
        }
        guard version < steps.count else { return }
        var statements = isNew ? [Statement.simple(PostgresSchema.makeHistory)] : []
        for (index, step) in steps.enumerated().dropFirst(Int(version)) {
            statements += step.statements.map(Statement.simple)
            statements.append(
                .simple("INSERT INTO sync_migration (version, name) VALUES (\(index + 1), '\(step.name)')"))
        }
        _ = try await connection.run(statements + [Transactions.commit])
    }

    private static func version(_ connection: PostgresConnection) async throws -> Int64 {
        let sql = "SELECT coalesce(max(version), 0)::bigint FROM sync_migration"
        return try await connection.run([.simple(sql)]).first?.int64(0, 0) ?? 0
    }

    /// One lock for each schema of the database; the first number is ours alone.
    static let lockSchema = "SELECT pg_advisory_xact_lock(1414087753, hashtext(current_schema()))"
}
