import Foundation
import TidemarkOperations

/// The parts of an archive to restore: everything but the schema, which exists, and the mark of completeness, which is
/// written last.
struct ArchiveList {
    let lines: [String]

    /// - Parameters:
    ///   - all: the output of `pg_restore --list`.
    ///   - schema: the schema of PostgreSQL that the target's connection uses.
    /// - Throws: `BackupError` when the archive is of another schema, or has no tables of ours.
    init(_ all: [String], schema: String) throws(BackupError) {
        let entries = all.filter { !$0.hasPrefix(";") }
        // 4213; 0 16413 TABLE DATA public sync_fence tidemark
        // Written last, by the restore itself.
        let last = "sync_fence"
        let fence = entries.compactMap { Self.schema(in: $0, of: "TABLE DATA", last) }.first
        guard let fence else {
            throw BackupError(.unusable, "\(BackupFolder.dumpName) is not an archive of a Tidemark database")
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

    /// Writes the lines to a temporary file, which the caller removes.
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
