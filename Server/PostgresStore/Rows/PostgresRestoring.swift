package import Logging
import TidemarkModel
package import TidemarkPostgres
package import TidemarkStore

/// A database into which a backup is being restored: its fence admits only the restoring node until all is done.
///
/// After a kill no node serves it, and the next restore recognises it.
package enum PostgresRestoring {
    /// A generation that no node has.
    static let generation = Int(Int32.max)

    static let unfinished = StoreError(
        .unavailable,
        "a restore into this database is running, or was interrupted: run 'tidemark restore' again to continue it",
        fault: .outdated)

    static let noSchema = StoreError(
        .unavailable, "the schema that search_path names does not exist: create it first")

    /// The state of a database before a restore.
    package enum Target: Hashable, Sendable {
        /// There are no tables of Tidemark.
        case empty
        /// All rows of a backup are restored, and the rest is missing.
        case unfinished
        /// An interrupted restore is still writing, in this process of PostgreSQL.
        case restoring(process: Int64)
        /// The database is or was in use; with the count of nodes' connections.
        case inUse(nodes: Int64)
    }

    /// - Returns: also the schema in which tables would be made, the server's version, and the name for the connection
    ///   that writes rows.
    package static func look(
        _ configuration: PostgresConfiguration, logger: Logger
    ) async throws -> (target: Target, schema: String, serverVersion: Int, application: String) {
        try await PostgresStore.withConnection(configuration, called: "restore", logger: logger) { connection in
            func run(_ sql: String) async throws -> ResultSet? { try await connection.run([.simple(sql)]).first }
            let name = "SELECT 'tidemark restore rows @' || \(PostgresStore.installation)"
            guard case let application?? = try await run(name)?.first({ try $0.optionalText() }) else {
                throw noSchema
            }
            let writing = """
                SELECT pid::bigint
                FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = '\(application)'
                """
            let writer = try await run(writing)?.first { try $0.integer() }
            let found = try await run(
                """
                SELECT current_schema()::text, current_setting('server_version_num')::bigint,
                    (SELECT count(*) FROM pg_class WHERE relname LIKE 'sync\\_%' AND pg_table_is_visible(oid)),
                    EXISTS (SELECT FROM pg_class WHERE relname = 'sync_fence' AND pg_table_is_visible(oid)),
                    (
                        SELECT count(*)
                        FROM pg_stat_activity
                        WHERE datname = current_database()
                            AND application_name LIKE '%@' || \(PostgresStore.installation) || ' sequencing'
                    )
                """
            )?.first {
                (
                    try $0.optionalText(), Int(try $0.integer()), try $0.integer(), try $0.bool(), try $0.integer()
                )
            }
            guard case (let schema?, let version, let tables, let hasFence, let nodes)? = found else {
                throw noSchema
            }
            func answer(
                _ target: Target
            ) -> (target: Target, schema: String, serverVersion: Int, application: String) {
                (target, schema, version, application)
            }
            if let writer { return answer(.restoring(process: writer)) }
            guard tables > 0 else { return answer(.empty) }
            guard hasFence else { return answer(.inUse(nodes: nodes)) }
            let fence = "SELECT count(*), coalesce(max(oldest), 0)::bigint FROM sync_fence"
            let rows = try await run(fence)?.first { (try $0.integer(), try $0.integer()) }
            let isUnfinished = rows?.0 == 0 || rows?.1 == Int64(generation)
            return answer(isUnfinished ? .unfinished : .inUse(nodes: nodes))
        }
    }

    /// Ends a restore whose rows are all written. The tables are migrated to this version's, `body` runs with the only
    /// store that may write, and then the fence admits nodes. A repeated call after a kill continues.
    ///
    /// - Parameters:
    ///   - state: the manifest's description of the database that was backed up.
    ///   - generations: others than this version's, for tests.
    package static func finish(
        _ configuration: PostgresConfiguration, from state: StoredState,
        generations: [Generation] = PostgresSchema.generations, logger: Logger,
        _ body: (PostgresStore) async throws -> Void
    ) async throws {
        _ = try await PostgresStore.withConnection(configuration, called: "restore", logger: logger) { connection in
            try await connection.run([
                .simple(
                    """
                    INSERT INTO sync_fence (generation, oldest) VALUES (\(generation), \(generation))
                    ON CONFLICT (one) DO NOTHING
                    """)
            ])
        }
        var options = PostgresStore.Options()
        options.sequencingConnections = 1
        options.readingConnections = 1
        options.migrationTimeout = .seconds(24 * 3_600)
        let alone = generations + [Generation(generation, "restore", steps: [])]
        let store = try PostgresStore(
            configuration: configuration, node: 1, options: options, generations: alone, logger: logger)
        try await store.migrate(.needed, isGentle: false)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await store.run() }
            defer { store.shutdown() }
            try await body(store)
        }
        let reached = try await store.generationReached(from: state, generations)
        _ = try await PostgresStore.withConnection(configuration, called: "restore", logger: logger) { connection in
            try await connection.run([
                .simple("UPDATE sync_fence SET generation = \(reached), oldest = \(min(state.oldest, reached))")
            ])
        }
    }
}

extension PostgresStore {
    /// The generation whose nodes have all that they need, according to the recorded steps.
    fileprivate func generationReached(from state: StoredState, _ generations: [Generation]) async throws -> Int {
        try await Self.withConnection(configuration, called: "restore", logger: logger) { connection in
            let steps = try await connection.run([.simple("SELECT step FROM sync_step WHERE ended IS NOT NULL")]).first
            var known = GenerationState(generation: state.generation, oldest: state.oldest)
            for step in try steps?.all({ try $0.text() }) ?? [] { known.steps[step] = .init(isDone: true) }
            return MigrationPlan.reached(generations, from: known)
        }
    }
}
