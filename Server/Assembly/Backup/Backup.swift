import Foundation
import TidemarkEmbeddedStore
package import TidemarkOperations
import TidemarkStore

/// Makes a backup of a database that servers go on using: `tidemark backup`. See `Operations/Backup/BACKUP.md`.
package enum Backup {
    /// A finished backup.
    package struct Made: Sendable {
        package var folder: BackupFolder
        package var isVerified: Bool
    }

    /// Makes a backup, and returns when it is on disk under its name.
    ///
    /// - Parameters:
    ///   - target: a path where nothing exists.
    ///   - verifies: whether to read and compare the written backup.
    ///   - programs: the folder of `pg_dump`; `nil` to look for it.
    ///   - program: name and version of the program that makes the backup.
    ///   - show: receives a line now and then.
    /// - Throws: `BackupError`, `StoreError`, `ConfigurationError`. A failed backup is removed.
    package static func make(
        _ database: DatabaseLocation, to target: String, verifies: Bool, programs: String?, program: String,
        show: @escaping @Sendable (String) -> Void
    ) async throws -> Made {
        let draft = try BackupDraft(target)
        if draft.replacedLeftovers { show("removed the remains of an interrupted backup in \(draft.path)") }
        do {
            let progress = Occasionally(show)
            let (manifest, findings) =
                switch database {
                case .sqlite(let path): try await aside { try sqlite(path, draft, program, progress) }
                case .postgres(let uri):
                    try await postgres(
                        uri, draft, programs: programs, verifies: verifies, program, progress)
                }
            guard findings.isEmpty else { throw Self.refusal(findings) }
            let sealed = try draft.seal(manifest)
            if verifies {
                // Read from the disk: the earlier read came from memory.
                let changed = sealed.check { progress.tell("read again", $0, of: $1) }
                guard changed.isEmpty else {
                    throw BackupError(.damaged, "the disk returns other bytes than were written: \(changed[0])")
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

    /// Records, where nodes find it, the state that a verified backup covers.
    private static func note(
        _ manifest: BackupManifest, _ database: DatabaseLocation, _ show: (String) -> Void
    ) async {
        let verified = ServerAssembly.Surroundings().now()
        let heads = manifest.summaries.map { ($0.workspace, $0.head) }
        do {
            switch database {
            case .sqlite(let path):
                try EmbeddedBackupNote.write(heads, taken: manifest.taken, verified: verified, beside: path)
            case .postgres(let uri):
                try await note(manifest, heads, verified: verified, uri, show)
            }
        } catch {
            show("the backup is verified, but the database could not record it: \(error)")
        }
    }

    private static func refusal(_ findings: Findings) -> BackupError {
        BackupError(
            .damaged,
            "the database is damaged, and no backup was made of it. Copy its files by hand, and repair what is"
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
        // Read from the copy, so that the server's log is held only as long as the copying takes.
        let report = try EmbeddedSnapshot.with(records) { try audit($0, progress, checksPages: true) }
        let files = try BackupFolder.sqliteFiles.map { name in
            try draft.sum(name) { progress.tell("summed up \($0.megabytes) MB of \(name)") }
        }
        let manifest = BackupManifest(
            program: program, store: .sqlite, state: state, taken: taken,
            ended: ServerAssembly.Surroundings().now(), files: files, workspaces: report.workspaces)
        return (manifest, report.findings)
    }

    /// Audits every row and, if asked, every page.
    static func audit(
        _ snapshot: EmbeddedSnapshot, _ progress: Occasionally, checksPages: Bool
    ) throws -> AuditReport {
        let audit = DatabaseAudit()
        try audit.take(all: snapshot) { progress.tell("checked \($0) rows") }
        try snapshot.filed { audit.add($0) }
        guard checksPages else { return audit.report() }
        progress.tell("checks the pages of the files")
        for finding in try snapshot.integrity() { audit.add(finding) }
        return audit.report()
    }

    /// Runs a blocking call on a thread of its own.
    static func aside<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Result(catching: body)) }
            thread.start()
        }
    }
}
