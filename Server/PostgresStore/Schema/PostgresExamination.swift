package import Logging
package import TidemarkModel
package import TidemarkPostgres
package import TidemarkStore

/// The facts about a database and its server that an operator should know: read at one moment, without writing.
package struct PostgresExamination: Sendable {
    /// The server's version as `server_version_num`: 150004 for 15.4.
    package var serverVersion: Int
    /// The generation of the tables, and the oldest one whose nodes they serve; `nil` without tables.
    package var generation: Int?
    package var oldest: Int?
    /// The values of the examined settings, by name.
    package var settings: [String: String]
    package var isStandby: Bool
    /// The milliseconds by which the server's clock is ahead, and half of the time that the question took.
    package var clockAhead: Milliseconds
    package var clockDoubt: Milliseconds
    /// The time of the newest verified backup; `nil` for none.
    package var lastBackup: Milliseconds?
    /// The count of all clients' connections.
    package var connections: Int
    /// The schema in which tables are, or would be, made, and the rights of the role there.
    package var ground = Ground()

    /// The generation of this version's tables.
    package static var own: Int { PostgresSchema.generations.last?.number ?? PostgresSchema.first }

    /// Checks that this version reads tables of that generation, and returns its own.
    ///
    /// - Throws: `StoreError` of kind `unavailable`, with the remedy.
    @discardableResult
    package static func check(_ state: StoredState) throws(StoreError) -> Int {
        try GenerationState(generation: state.generation, oldest: state.oldest).check(
            first: PostgresSchema.first, own: own)
        return own
    }

    private static let names = [
        "fsync", "full_page_writes", "synchronous_commit", "idle_session_timeout", "max_connections",
        "transaction_read_only", "default_transaction_read_only", "server_encoding",
    ]

    /// - Parameter now: milliseconds since 1970.
    /// - Throws: `StoreError`.
    package static func run(
        _ configuration: PostgresConfiguration, now: () -> Milliseconds, logger: Logger
    ) async throws -> PostgresExamination {
        var brief = configuration
        brief.connections = 1
        brief.applicationName += " doctor"
        let pool = try PostgresPool(configuration: brief, logger: logger)
        return try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await pool.run() }
            defer { pool.shutdown() }
            return try await pool.withConnection { connection in
                do { return try await examine(connection, now) } catch let error as PostgresError {
                    throw StoreError(postgres: error)
                }
            }
        }
    }

    private static func examine(
        _ connection: PostgresConnection, _ now: () -> Milliseconds
    ) async throws -> PostgresExamination {
        func rows(_ sql: String) async throws -> ResultSet? { try await connection.run([.simple(sql)]).first }
        let before = now()
        let clock =
            try await rows("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")?.int64(0, 0) ?? before
        let after = now()
        let server = try await rows(
            "SELECT current_setting('server_version_num')::bigint, pg_is_in_recovery(),"
                + " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')")
        var settings: [String: String] = [:]
        let list = names.map { "'\($0)'" }.joined(separator: ", ")
        let found = try await rows("SELECT name, setting FROM pg_settings WHERE name IN (\(list))")
        for (name, value) in try found?.all({ (try $0.text(), try $0.text()) }) ?? [] { settings[name] = value }
        var examination = PostgresExamination(
            serverVersion: Int(try server?.int64(0, 0) ?? 0), settings: settings,
            isStandby: try server?.bool(0, 1) ?? false, clockAhead: clock - (before + after) / 2,
            clockDoubt: (after - before) / 2, connections: Int(try server?.int64(0, 2) ?? 0))
        let ground = try await Ground(connection)
        examination.ground = ground
        if ground.mayRead("sync_fence") {
            let fence = try await rows("SELECT generation::bigint, oldest::bigint FROM sync_fence")
            if let fence, fence.rowCount > 0 {
                examination.generation = Int(try fence.int64(0, 0))
                examination.oldest = Int(try fence.int64(0, 1))
            }
        }
        if ground.mayRead("sync_backup") {
            examination.lastBackup =
                try await rows("SELECT max(taken) FROM sync_backup")?.first {
                    try $0.optionalInteger()
                } ?? nil
        }
        if ground.mayRead("sync_workspace") {
            examination.ground.hasData =
                try await rows("SELECT EXISTS (SELECT FROM sync_workspace)")?.bool(0, 0) ?? false
        }
        return examination
    }
}
