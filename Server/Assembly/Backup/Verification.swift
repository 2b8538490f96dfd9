import TidemarkEmbeddedStore
package import TidemarkOperations
package import TidemarkStore

/// Checks a backup, or a database that servers use: `tidemark verify`. Writes nothing.
package enum Verification {
    /// Checks a backup: its files against the manifest, and their contents.
    ///
    /// - Parameter programs: the folder of `pg_restore`; `nil` to look for it.
    /// - Throws: `BackupError`, `StoreError` when it cannot be checked at all.
    package static func backup(
        _ path: String, programs: String?, show: @escaping @Sendable (String) -> Void
    ) async throws -> (manifest: BackupManifest, report: AuditReport) {
        let folder = try BackupFolder.open(path)
        let progress = Occasionally(show)
        let changed = folder.check { progress.tell("checked", $0, of: $1) }
        guard changed.isEmpty else {
            // Changed files no longer hold the backup: reading them tells nothing.
            var findings = Findings()
            for finding in changed { findings.add(finding) }
            return (folder.manifest, AuditReport(workspaces: [], findings: findings))
        }
        var report =
            switch folder.manifest.store {
            case .sqlite:
                try EmbeddedSnapshot.with(folder.file(BackupFolder.recordsName)) {
                    try Backup.audit($0, progress, checksPages: true)
                }
            case .postgres:
                try await Backup.archived(folder, programs: programs, progress)
            }
        for finding in folder.manifest.differences(from: report.workspaces, called: "the backup") {
            report.findings.add(finding)
        }
        return (folder.manifest, report)
    }

    /// Checks a database beside the servers that use it.
    ///
    /// - Throws: `StoreError`, `ConfigurationError` when it cannot be checked at all.
    package static func database(
        _ database: DatabaseLocation, show: @escaping @Sendable (String) -> Void
    ) async throws -> (state: StoredState, report: AuditReport) {
        let progress = Occasionally(show)
        switch database {
        case .sqlite(let path):
            return try EmbeddedSnapshot.with(path) {
                (try $0.state(), try Backup.audit($0, progress, checksPages: true))
            }
        case .postgres(let uri):
            return try await postgres(uri, progress)
        }
    }
}
