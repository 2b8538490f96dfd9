import Foundation
import Logging
import TidemarkEmbeddedStore
package import TidemarkOperations
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

/// Making a backup of a database that servers go on using: what `tidemark backup` does. See `Operations/Backup/BACKUP.md`.
package enum Backup {
    /// What was made.
    package struct Made: Sendable {
        package var folder: BackupFolder
        package var isVerified: Bool
    }

    /// Makes it, and returns when it is on the disk under its name.
    ///
    /// - Parameters:
    ///   - target: a path where nothing is.
    ///   - verifies: read what was written once more, and compare it.
    ///   - programs: the folder of `pg_dump`; `nil` to look for it.
    ///   - program: name and version of what makes it.
    ///   - show: given a line now and then.
    /// - Throws: `BackupError`, `StoreError`, `ConfigurationError`. What was written is removed.
    package static func make(
        _ database: DatabaseLocation, to target: String, verifies: Bool, programs: String?, program: String,
        show: @escaping @Sendable (String) -> Void
    ) async throws -> Made {
        let draft = try BackupDraft(target)
        if draft.replacedLeftovers { show("what a backup that was cut short had left in \(draft.path) was removed") }
        do {
            let progress = Occasionally(show)
            let (manifest, findings) =
                switch database {
                case .sqlite(let path): try await aside { try sqlite(path, draft, program, progress) }
                case .postgres(let uri):
                    try await postgres(
                        .database(uri), draft, programs: programs, verifies: verifies, program, progress)
                }
            guard findings.isEmpty else { throw Self.refusal(findings) }
            let sealed = try draft.seal(manifest)
            if verifies {
                // As the disk has it: what was found right before was found in memory.
                let changed = sealed.check { progress.tell("read again", $0, of: $1) }
                guard changed.isEmpty else {
                    throw BackupError(.damaged, "the disk does not give back what was written: \(changed[0])")
                }
            }
            let made = Made(folder: try draft.publish(), isVerified: verifies)
            if verifies { await note(made.folder.manifest, database, show) }
            return made
        } catch {
            draft.abandon()
            throw error
        }
    }

    /// Writes down, where nodes find it, how far a verified backup goes.
    private static func note(
        _ manifest: BackupManifest, _ database: DatabaseLocation, _ show: (String) -> Void
    ) async {
        let verified = ServerAssembly.Surroundings().now()
        let heads = manifest.summaries.map { ($0.workspace, $0.head) }
        do {
            switch database {
            case .sqlite(let path):
                try EmbeddedBackupNote.write(heads, taken: manifest.taken, verified: verified, beside: path)
            case .postgres where manifest.generation < PostgresBackupNote.generation.number:
                show(
                    "it is not written down that there is a backup: tables of generation \(manifest.generation) have no"
                        + " place for it")
            case .postgres(let uri):
                try await PostgresBackupNote.write(
                    heads, taken: manifest.taken, verified: verified, .database(uri), logger: .quiet)
            }
        } catch {
            show("the backup is whole and verified, and it could not be written down that there is one: \(error)")
        }
    }

    private static func refusal(_ findings: Findings) -> BackupError {
        BackupError(
            .damaged,
            "the database is not sound, and no backup was made of it. Take a copy of its files by hand, and see what is"
                + " wrong:\n" + findings.lines.joined(separator: "\n"))
    }

    // MARK: SQLite

    private static func sqlite(
        _ path: String, _ draft: BackupDraft, _ program: String, _ progress: Occasionally
    ) throws -> (BackupManifest, Findings) {
        let taken = ServerAssembly.Surroundings().now()
        let (records, blobs) = (draft.file(BackupFolder.recordsName), draft.file(BackupFolder.blobsName))
        let state = try EmbeddedSnapshot.with(path) { snapshot in
            let state = try snapshot.state()
            let all = try snapshot.pages()
            try snapshot.copy(records: records, blobs: blobs) {
                progress.tell("copied", $0 * EmbeddedSnapshot.pageBytes, of: all * EmbeddedSnapshot.pageBytes)
            }
            return state
        }
        // From the copy, so that the log of the server's file is held no longer than the copying takes.
        let report = try EmbeddedSnapshot.with(records) { try audit($0, progress, checksPages: true) }
        let files = try BackupFolder.sqliteFiles.map { name in
            try draft.sum(name) { progress.tell("summed up \($0.megabytes) MB of \(name)") }
        }
        let manifest = BackupManifest(
            program: program, store: .sqlite, state: state, taken: taken,
            ended: ServerAssembly.Surroundings().now(), files: files, workspaces: report.workspaces)
        return (manifest, report.findings)
    }

    /// Every row and, when asked, every page.
    static func audit(
        _ snapshot: EmbeddedSnapshot, _ progress: Occasionally, checksPages: Bool
    ) throws -> AuditReport {
        let audit = DatabaseAudit()
        try snapshot.rows { row in
            audit.take(row)
            if audit.rows % 1_000 == 0 { progress.tell("checked \(audit.rows) rows") }
        }
        guard checksPages else { return audit.report() }
        progress.tell("checks the pages of the files")
        for finding in try snapshot.integrity() { audit.take(.finding(finding)) }
        return audit.report()
    }

    // MARK: PostgreSQL

    private static func postgres(
        _ configuration: PostgresConfiguration, _ draft: BackupDraft, programs: String?, verifies: Bool,
        _ program: String, _ progress: Occasionally
    ) async throws -> (BackupManifest, Findings) {
        let path = draft.file(BackupFolder.dumpName)
        let taken = ServerAssembly.Surroundings().now()
        let (state, report, tools) = try await PostgresSnapshot.with(
            configuration, isExported: true, logger: .quiet
        ) { snapshot in
            let state = try await snapshot.state()
            let tools = try PostgresPrograms(
                configuration, in: programs, serverVersion: snapshot.serverVersion, schema: snapshot.schema)
            let id = snapshot.id
            // Both see the same moment, and go on side by side.
            async let dumped: Void = aside { try tools.dump(to: path, snapshot: id) }
            let audit = DatabaseAudit()
            try await snapshot.rows { row in
                audit.take(row)
                if audit.rows % 1_000 == 0 { progress.tell("checked \(audit.rows) rows, wrote \(size(path)) MB") }
            }
            try await dumped
            return (state, audit.report(), tools)
        }
        let file = try draft.sum(BackupFolder.dumpName) { progress.tell("summed up \($0.megabytes) MB") }
        let manifest = BackupManifest(
            program: program, store: .postgres, state: state, taken: taken,
            ended: ServerAssembly.Surroundings().now(), files: [file], workspaces: report.workspaces)
        guard verifies, report.findings.isEmpty else { return (manifest, report.findings) }
        var findings = report.findings
        let found = try await aside { try archived(path, tools, of: state.generation, progress) }
        for finding in found.findings.kept { findings.add(finding) }
        for finding in manifest.differences(from: found.workspaces, called: "the archive") { findings.add(finding) }
        return (manifest, findings)
    }

    /// What the rows in an archive say. Blocks.
    static func archived(
        _ path: String, _ tools: PostgresPrograms, of generation: Int, _ progress: Occasionally
    ) throws -> AuditReport {
        let audit = DatabaseAudit()
        for table in ArchiveRows.tables(of: generation) {
            var rows = ArchiveRows(table)
            try tools.rows(of: table, in: path) { bytes in
                try rows.take(bytes) { audit.take($0) }
                progress.tell("read \(audit.rows) rows of the archive")
            }
            try rows.end()
        }
        return audit.report()
    }

    /// Runs what blocks on a thread of its own.
    static func aside<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Result(catching: body)) }
            thread.start()
        }
    }

    private static func size(_ path: String) -> Int64 {
        // Only shown: nothing is decided by it.
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return ((attributes?[.size] as? NSNumber)?.int64Value ?? 0).megabytes
    }
}

extension PostgresConfiguration {
    /// - Throws: `ConfigurationError` for a connection string that is none.
    static func database(_ uri: String) throws -> PostgresConfiguration {
        do throws(PostgresError) {
            return try PostgresConfiguration(connectionString: uri)
        } catch {
            throw ConfigurationError(.database, "\(error)")
        }
    }
}

extension Logger {
    /// Says on standard error what goes wrong with connections.
    static var quiet: Logger {
        var logger = Logger(label: "tidemark") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        return logger
    }
}
