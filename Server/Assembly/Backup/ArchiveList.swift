import Foundation
import TidemarkOperations

/// The parts of an archive that are restored: everything but the schema, which is there, and what says that all is there, which comes last.
struct ArchiveList {
    let lines: [String]

    /// - Parameters:
    ///   - all: what `pg_restore --list` says.
    ///   - schema: the schema of PostgreSQL that the target's connection uses.
    /// - Throws: `BackupError` when the archive is of another schema, or has no tables of ours.
    init(_ all: [String], schema: String) throws(BackupError) {
        let entries = all.filter { !$0.hasPrefix(";") }
        // 4213; 0 16413 TABLE DATA public sync_fence tidemark
        let hasFence = entries.contains { Self.schema(in: $0, of: "TABLE DATA", "sync_fence") != nil }
        // Of a version without generations: its steps are noted when all is there, as the fence is.
        let last = hasFence ? "sync_fence" : "sync_migration"
        let fence = entries.compactMap { Self.schema(in: $0, of: "TABLE DATA", last) }.first
        guard let fence else {
            throw BackupError(.unusable, "\(BackupFolder.dumpName) is no archive of a database of Tidemark's")
        }
        guard fence == schema else {
            throw BackupError(
                .unusable,
                "the backup is of the schema \(fence), and the connection uses \(schema): make it there (CREATE SCHEMA),"
                    + " and connect with ?options=-csearch_path%3D\(fence)")
        }
        lines = entries.filter { entry in
            Self.schema(in: entry, of: "TABLE DATA", last) == nil && !entry.contains(" SCHEMA - ")
                && !entry.contains(" - SCHEMA ")
        }
    }

    private static func schema(in entry: String, of kind: String, _ name: String) -> String? {
        guard let start = entry.range(of: " \(kind) "), let end = entry.range(of: " \(name) "),
            start.upperBound <= end.lowerBound
        else { return nil }
        return String(entry[start.upperBound..<end.lowerBound])
    }

    /// A temporary file with the lines, to be removed by the caller.
    func file() throws(BackupError) -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tidemark-\(UUID().uuidString)").path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw BackupError(.failed, "\(path) cannot be made: \(String(cString: strerror(errno)))")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do { try file.write(contentsOf: Data(lines.map { $0 + "\n" }.joined().utf8)) } catch {
            throw BackupError(.failed, "\(path) cannot be written")
        }
        return path
    }
}
