#if PostgreSQL
import Logging
import TidemarkOperations
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

extension Verification {
    /// Reads every row.
    static func postgres(
        _ uri: String, _ progress: Occasionally
    ) async throws -> (state: StoredState, report: AuditReport) {
        try await PostgresSnapshot.with(.database(uri), isExported: false, logger: .quiet) { snapshot in
            let state = try await snapshot.state()
            let audit = DatabaseAudit()
            try await snapshot.rows { row in
                audit.take(row)
                if audit.rows % 1_000 == 0 { progress.tell("checked \(audit.rows) rows") }
            }
            return (state, audit.report())
        }
    }
}
#endif
