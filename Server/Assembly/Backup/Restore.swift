import Foundation
import TidemarkEmbeddedStore
import TidemarkModel
package import TidemarkOperations
import TidemarkStore

/// Restores a backup into an empty database of either kind: `tidemark restore`. See `Operations/Backup/BACKUP.md`.
package enum Restore {
    /// Checks the backup, restores it, compares the result with the manifest, and begins a new epoch in each workspace.
    ///
    /// A kill leaves nothing that a server would open. A repeated call starts again, or continues.
    ///
    /// - Parameters:
    ///   - database: the target, which must be empty.
    ///   - verifies: whether to compare the result with the manifest.
    ///   - programs: the folder of `pg_restore`; `nil` to look for it.
    ///   - show: receives a line now and then.
    /// - Throws: `BackupError`, `StoreError`, `ConfigurationError`. Nothing was changed before the backup was checked.
    package static func run(
        _ path: String, into database: DatabaseLocation, verifies: Bool, programs: String?,
        show: @escaping @Sendable (String) -> Void
    ) async throws -> BackupManifest {
        let folder = try BackupFolder.open(path)
        let manifest = folder.manifest
        let progress = Occasionally(show)
        switch database {
        case .sqlite(let target):
            try checkGeneration(folder, of: .sqlite)
            let restoring = try EmbeddedRestoring(target)
            try check(folder, progress)
            if restoring.replacedLeftovers { show("removed the remains of an interrupted restore") }
            try await sqlite(folder, restoring, verifies: verifies, programs: programs, progress)
        case .postgres(let uri):
            try checkGeneration(folder, of: .postgres)
            try await postgres(folder, uri, verifies: verifies, programs: programs, progress, show: show)
        }
        return manifest
    }

    static func check(_ folder: BackupFolder, _ progress: Occasionally) throws(BackupError) {
        let findings = folder.check { progress.tell("checked", $0, of: $1) }
        guard findings.isEmpty else {
            throw BackupError(
                .damaged,
                "\(folder.path) is damaged, and nothing was restored:\n"
                    + findings.map(\.description).joined(separator: "\n"))
        }
    }

    static func compare(_ manifest: BackupManifest, _ report: AuditReport) throws(BackupError) {
        var findings = report.findings
        for finding in manifest.differences(from: report.workspaces, called: "the restored database") {
            findings.add(finding)
        }
        guard findings.isEmpty else {
            throw BackupError(
                .damaged,
                "the restored database differs from the manifest, and no server will open it:\n"
                    + findings.lines.joined(separator: "\n"))
        }
    }

    // MARK: SQLite

    private static func sqlite(
        _ folder: BackupFolder, _ restoring: EmbeddedRestoring, verifies: Bool, programs: String?,
        _ progress: Occasionally
    ) async throws {
        switch folder.manifest.store {
        case .sqlite:
            let all = folder.manifest.files.reduce(0) { $0 + $1.bytes }
            var before: Int64 = 0
            for (name, target) in [
                (BackupFolder.recordsName, restoring.records), (BackupFolder.blobsName, restoring.blobs),
            ] {
                before += try copy(folder.file(name), target) { progress.tell("restored", before + $0, of: all) }
            }
        case .postgres:
            let files = (records: restoring.records, blobs: restoring.blobs)
            try await transfer(folder, to: files, verifies: verifies, programs: programs, progress)
        }
        if verifies {
            // The pages are the bytes that were checked before.
            let report = try EmbeddedSnapshot.with(restoring.records) {
                try Backup.audit($0, progress, checksPages: false)
            }
            try compare(folder.manifest, report)
        }
        let store = try EmbeddedStore(path: restoring.records)
        do {
            try EmbeddedBlobStore(path: restoring.blobs).close()
            try await RestoredOrder.begin(folder.manifest.summaries, in: store)
        } catch {
            // The fault of the tables is the error to report.
            try? store.close()
            throw error
        }
        try store.close()
        try restoring.finish()
    }

    private static func copy(_ path: String, _ target: String, _ progress: (Int64) -> Void) throws -> Int64 {
        guard let source = FileHandle(forReadingAtPath: path) else {
            throw BackupError(.damaged, "\(path) cannot be read")
        }
        let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw BackupError(.failed, "\(target) cannot be made: \(String(cString: strerror(errno)))")
        }
        let sink = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var bytes: Int64 = 0
        do {
            while let some = try source.read(upToCount: 1 << 20), !some.isEmpty {
                try sink.write(contentsOf: some)
                bytes += Int64(some.count)
                progress(bytes)
            }
            try sink.close()
        } catch {
            throw BackupError(.failed, "\(target) cannot be written: \(error.localizedDescription)")
        }
        return bytes
    }
}
