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
            (try await snapshot.state(), try await audit(snapshot) { progress.tell("checked \($0) rows") })
        }
    }

    /// Audits every row.
    ///
    /// - Parameter progress: receives the number of rows so far, now and then.
    static func audit(_ snapshot: PostgresSnapshot, _ progress: (Int64) -> Void) async throws -> AuditReport {
        let audit = DatabaseAudit()
        for table in StoredTable.audited {
            try await snapshot.rows(of: table) { row in
                audit.take(row, of: table)
                if audit.rows % 1_000 == 0 { progress(audit.rows) }
            }
        }
        try await snapshot.filed { audit.add($0) }
        return audit.report()
    }
}
#endif
