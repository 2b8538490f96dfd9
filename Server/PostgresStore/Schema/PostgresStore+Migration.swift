import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// Makes the tables, or migrates those of an earlier version of Tidemark or PostgreSQL; needs no `run()`. See
    /// `Store/Generations/GENERATIONS.md`.
    ///
    /// Several nodes may call it at once, while others serve: each step is made once. An interrupted run is continued
    /// by the next. If nothing is missing, a role without the right to make tables is enough.
    ///
    /// - Parameters:
    ///   - extent: the steps to make; `needed` enables a node of this version to serve.
    ///   - isGentle: leaves the database as much time for other work as it takes for itself.
    ///   - report: receives the progress.
    /// - Throws: `StoreError` of kind `unavailable` with the remedy.
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

    /// Returns the steps that `migrate` would make, without making them; one line if the database is new or older than
    /// generations.
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
                "the migration of the tables takes longer than \(options.migrationTimeout.milliseconds / 1_000) s;"
                    + " PostgreSQL may still be working on it, and no step is half done: start again, which waits for"
                    + " it, and give it more time (MIGRATION_MINUTES among the limits of 'tidemark serve')")
        } catch {
            throw StoreError(postgres: error)
        }
    }

    /// Runs `body` with a pool of its own and a migration's timeout; needs no `run()`.
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

    /// One lock for each schema of the database; the first number is Tidemark's.
    static let lockSchema = "SELECT pg_advisory_xact_lock(1414087753, hashtext(current_schema()))"
}
