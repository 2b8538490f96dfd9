#if !PostgreSQL
import Logging
import TidemarkModel
import TidemarkOperations
import TidemarkStore

/// Built without the trait `PostgreSQL`: each call of this folder refuses.
extension ConfigurationError {
    static let withoutPostgres = ConfigurationError(
        .database,
        "this program was built without PostgreSQL: use sqlite:PATH, or build with the trait PostgreSQL, which needs libpq"
    )
}

extension OpenedStore {
    static func postgres(
        _ uri: String, _ configuration: ServerConfiguration, logger: Logger
    ) async throws -> OpenedStore { throw ConfigurationError.withoutPostgres }
}

extension Doctor {
    func postgres(_ uri: String, _ configuration: ServerConfiguration) async -> [DoctorFinding] {
        [
            .wrong(
                "database", "this program was built without PostgreSQL", why: "A server does not start.",
                do: "Use sqlite:PATH, or a program that was built with the trait PostgreSQL.")
        ]
    }
}

extension Migration {
    static func postgresPlan(_ uri: String, _ extent: MigrationPlan.Extent) async throws -> [PlanLine] {
        throw ConfigurationError.withoutPostgres
    }

    static func postgres(
        _ uri: String, _ extent: MigrationPlan.Extent, timeout: Duration,
        report: @escaping @Sendable (MigrationEvent) -> Void
    ) async throws { throw ConfigurationError.withoutPostgres }
}

extension Backup {
    static func postgres(
        _ uri: String, _ draft: BackupDraft, programs: String?, verifies: Bool, _ program: String,
        _ progress: Occasionally
    ) async throws -> (BackupManifest, Findings) { throw ConfigurationError.withoutPostgres }

    static func archived(
        _ folder: BackupFolder, programs: String?, _ progress: Occasionally
    ) async throws -> AuditReport { throw ConfigurationError.withoutPostgres }

    static func note(
        _ manifest: BackupManifest, _ heads: [(WorkspaceID, Head)], verified: Milliseconds, _ uri: String,
        _ show: (String) -> Void
    ) async throws { throw ConfigurationError.withoutPostgres }
}

extension Restore {
    static func postgres(
        _ folder: BackupFolder, _ uri: String, verifies: Bool, programs: String?, _ progress: Occasionally,
        show: (String) -> Void
    ) async throws { throw ConfigurationError.withoutPostgres }

    static func checkPostgres(_ state: StoredState) throws -> Int { throw ConfigurationError.withoutPostgres }

    static func transfer(
        _ folder: BackupFolder, to files: (records: String, blobs: String), verifies: Bool, programs: String?,
        _ progress: Occasionally
    ) async throws { throw ConfigurationError.withoutPostgres }
}

extension Verification {
    static func postgres(
        _ uri: String, _ progress: Occasionally
    ) async throws -> (state: StoredState, report: AuditReport) { throw ConfigurationError.withoutPostgres }
}
#endif
