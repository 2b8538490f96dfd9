#if PostgreSQL
import Foundation
import Logging
import TidemarkModel
import TidemarkOperations
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

extension Backup {
    /// Makes the archive, and reads the rows at the same time.
    static func postgres(
        _ uri: String, _ draft: BackupDraft, programs: String?, verifies: Bool,
        _ program: String, _ progress: Occasionally
    ) async throws -> (BackupManifest, Findings) {
        let configuration = try PostgresConfiguration.database(uri)
        let path = draft.file(BackupFolder.dumpName)
        let taken = ServerAssembly.Surroundings().now()
        let (state, report, tools) = try await PostgresSnapshot.with(
            configuration, isExported: true, logger: .quiet
        ) { snapshot in
            let state = try await snapshot.state()
            let tools = try PostgresPrograms(
                configuration.environment, in: programs, serverVersion: snapshot.serverVersion, schema: snapshot.schema)
            let id = snapshot.id
            // Both read the same snapshot, side by side.
            async let dumped: Void = aside { try tools.dump(to: path, snapshot: id) }
            let report = try await Verification.audit(snapshot) {
                progress.tell("checked \($0) rows, wrote \(size(path)) MB")
            }
            try await dumped
            return (state, report, tools)
        }
        let file = try draft.sum(BackupFolder.dumpName) { progress.tell("summed up \($0.megabytes) MB") }
        let manifest = BackupManifest(
            program: program, store: .postgres, state: state, taken: taken,
            ended: ServerAssembly.Surroundings().now(), files: [file], workspaces: report.workspaces)
        guard verifies, report.findings.isEmpty else { return (manifest, report.findings) }
        var findings = report.findings
        let found = try await aside { try archived(path, tools, progress) }
        for finding in found.findings.kept { findings.add(finding) }
        for finding in manifest.differences(from: found.workspaces, called: "the archive") { findings.add(finding) }
        return (manifest, findings)
    }

    /// Audits the rows of an archive. Blocks.
    private static func archived(
        _ path: String, _ tools: PostgresPrograms, _ progress: Occasionally
    ) throws -> AuditReport {
        let audit = DatabaseAudit()
        try audit.take(all: RowArchive(tools: tools, path: path)) {
            progress.tell("read \($0) rows of the archive")
        }
        return audit.report()
    }

    /// Reads the rows of a backup's archive.
    ///
    /// - Parameter programs: the folder of `pg_restore`; `nil` to look for it.
    static func archived(
        _ folder: BackupFolder, programs: String?, _ progress: Occasionally
    ) async throws -> AuditReport {
        try PostgresExamination.check(folder.manifest.state)
        return try await aside {
            let tools = try PostgresPrograms(in: programs, archiveVersion: folder.manifest.storeVersion)
            return try archived(folder.file(BackupFolder.dumpName), tools, progress)
        }
    }

    /// Records in the database the state that a verified backup covers.
    static func note(
        _ manifest: BackupManifest, _ heads: [(WorkspaceID, Head)], verified: Milliseconds, _ uri: String,
        _ show: (String) -> Void
    ) async throws {
        try await PostgresBackupNote.write(
            heads, taken: manifest.taken, verified: verified, .database(uri), logger: .quiet)
    }

    private static func size(_ path: String) -> Int64 {
        // Only shown: no decision depends on it.
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return ((attributes?[.size] as? NSNumber)?.int64Value ?? 0).megabytes
    }
}

extension Logger {
    /// A logger that writes only the errors of connections, to standard error.
    static var quiet: Logger {
        var logger = Logger(label: "tidemark") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        return logger
    }
}
#endif
