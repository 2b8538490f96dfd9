import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// Makes the tables, or brings those of an earlier version of Tidemark or PostgreSQL up to date; needs no `run()`. See
    /// `Store/Generations/GENERATIONS.md`.
    ///
    /// Several nodes may call it at once, while others serve: each step is made once. Cut short, it goes on where it was.
    /// Where nothing is missing, a role that may not make tables is enough.
    ///
    /// - Parameters:
    ///   - extent: what is to be done; `needed` makes a node of this version able to serve.
    ///   - isGentle: leaves the database as much time for others as it takes for itself.
    ///   - report: told what is being done.
    /// - Throws: `StoreError` of kind `unavailable` with what to do about it.
    package func migrate(
        _ extent: MigrationPlan.Extent = .needed, isGentle: Bool = true,
        report: @escaping @Sendable (MigrationEvent) -> Void = { _ in }
    ) async throws(StoreError) {
        try await withMigrator(isGentle: isGentle, report: report) { migrator in
            try await migrator.prepare()
            try await migrator.migrate(extent)
            try await mendPlaces(migrator.connection)
        }
    }

    /// What `migrate` would do, without doing any of it; one line where the database is new or older than generations.
    package func migrationPlan(_ extent: MigrationPlan.Extent) async throws(StoreError) -> [PlanLine] {
        var lines: [PlanLine] = []
        try await withMigrator(isGentle: false, report: { _ in }) { migrator in lines = try await migrator.plan(extent)
        }
        return lines
    }

    private func withMigrator(
        isGentle: Bool, report: @escaping @Sendable (MigrationEvent) -> Void,
        _ body: (PostgresMigrator) async throws -> Void
    ) async throws(StoreError) {
        do {
            try await withOwnPool { pool in
                try await pool.withConnection { connection in
                    let migrator = PostgresMigrator(
                        connection: connection, generations: generations, options: options,
                        application: configuration.applicationName,
                        transactions: Transactions(options, generation: nil), isGentle: isGentle,
                        report: report)
                    try await body(migrator)
                }
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
        patient.applicationName += " migration"
        patient.operationTimeout = options.migrationTimeout
        let pool = try PostgresPool(configuration: patient, logger: logger)
        return try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await pool.run() }
            defer { pool.shutdown() }
            return try await body(pool)
        }
    }

    /// One lock for each schema of the database; the first number is ours alone.
    static let lockSchema = "SELECT pg_advisory_xact_lock(1414087753, hashtext(current_schema()))"
}
