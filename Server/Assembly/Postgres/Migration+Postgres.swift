#if PostgreSQL
import Logging
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

extension Migration {
    static func postgresPlan(_ uri: String, _ extent: MigrationPlan.Extent) async throws -> [PlanLine] {
        try await postgres(uri, timeout: .seconds(60)).migrationPlan(extent)
    }

    static func postgres(
        _ uri: String, _ extent: MigrationPlan.Extent, timeout: Duration,
        report: @escaping @Sendable (MigrationEvent) -> Void
    ) async throws {
        try await postgres(uri, timeout: timeout).migrate(extent, isGentle: false, report: report)
    }

    private static func postgres(_ uri: String, timeout: Duration) throws -> PostgresStore {
        var options = PostgresStore.Options()
        options.migrationTimeout = timeout
        return try PostgresStore(
            configuration: .database(uri), node: 1, options: options,
            logger: Logger(label: "tidemark") { StreamLogHandler.standardError(label: $0) })
    }
}
#endif
