import Foundation
package import TidemarkStore

/// A backup on the disk: a folder that has its name only when it is complete.
package struct BackupFolder: Sendable {
    static let manifestName = "manifest.json"
    /// The checksums in the format of `sha256sum -c`, so that a backup can be checked without this program.
    static let sumsName = "SHA256SUMS"
    /// The files of a backup of SQLite.
    package static let sqliteFiles = [recordsName, blobsName]
    /// The files of a backup of PostgreSQL.
    package static let postgresFiles = [dumpName]
    /// The records of an SQLite database.
    package static let recordsName = "tidemark.sqlite"
    /// The blobs of an SQLite database.
    package static let blobsName = "tidemark.blobs.sqlite"
    /// The archive that `pg_dump` made.
    package static let dumpName = "tidemark.dump"
    /// The names of all files that this program writes into a backup.
    static let names = Set(sqliteFiles + postgresFiles + [manifestName, sumsName])

    package let path: String
    package let manifest: BackupManifest

    /// Returns the path of a file of the backup.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Opens a backup and reads its manifest, which is checked against its checksum.
    ///
    /// - Throws: ``BackupError``: `unusable` for a path that is no backup at all, `damaged` for a broken backup.
    package static func open(_ path: String) throws(BackupError) -> BackupFolder {
        let path = Self.absolute(path)
        guard !path.hasSuffix(BackupDraft.suffix) else {
            throw BackupError(
                .unusable, "\(path) is a backup that was cut short, and cannot be used: run 'tidemark backup' again")
        }
        return try load(path)
    }

    /// Opens a backup, even one without its final name.
    static func load(_ path: String) throws(BackupError) -> BackupFolder {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw BackupError(.unusable, "\(path) does not exist, or cannot be read (\(FileSum.message(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw BackupError(.unusable, "\(path) is no backup: a backup is a folder with \(manifestName) in it")
        }
        guard FileManager.default.fileExists(atPath: "\(path)/\(manifestName)") else {
            throw BackupError(.unusable, "\(path) is no backup: it has no \(manifestName)")
        }
        do throws(BackupError) {
            let bytes = try read("\(path)/\(manifestName)", bytesMax: BackupManifest.bytesMax)
            let manifest = try BackupManifest(decoding: bytes)
            try checkSum("\(path)", of: manifestName)
            return BackupFolder(path: path, manifest: manifest)
        } catch {
            throw BackupError(error.kind, "\(path): \(error.description)")
        }
    }

    /// Compares each file with the manifest.
    ///
    /// - Parameter progress: receives the bytes read so far, and the total.
    package func check(progress: (Int64, Int64) -> Void = { _, _ in }) -> [Finding] {
        let all = manifest.files.reduce(0) { $0 + $1.bytes }
        var before: Int64 = 0
        var findings: [Finding] = []
        for expected in manifest.files {
            defer { before += expected.bytes }
            do throws(BackupError) {
                let found = try FileSum.sha256(file(expected.name), afresh: true) { progress(before + $0, all) }
                if found.bytes != expected.bytes {
                    findings.append(
                        Finding(
                            .file, "\(expected.name) has \(found.bytes) bytes, and the manifest says \(expected.bytes)")
                    )
                } else if found.digits != expected.sha256 {
                    findings.append(
                        Finding(
                            .file,
                            "\(expected.name) was changed: its SHA-256 is \(found.digits), and the manifest says"
                                + " \(expected.sha256)"))
                }
            } catch {
                findings.append(Finding(.file, "\(expected.name) \(error.description)"))
            }
        }
        return findings
    }

    private static func checkSum(_ folder: String, of name: String) throws(BackupError) {
        let sums: [UInt8]
        do throws(BackupError) { sums = try read("\(folder)/\(sumsName)", bytesMax: 65_536) } catch {
            throw BackupError(.damaged, "\(sumsName) \(error.description)")
        }
        let line = String(decoding: sums, as: UTF8.self).split(separator: "\n").first { $0.hasSuffix("  \(name)") }
        guard let line else { throw BackupError(.damaged, "\(sumsName) does not name \(name)") }
        guard try FileSum.sha256("\(folder)/\(name)").digits == line.prefix(64) else {
            throw BackupError(.damaged, "\(name) was changed: its SHA-256 is not the one in \(sumsName)")
        }
    }

    private static func read(_ path: String, bytesMax: Int) throws(BackupError) -> [UInt8] {
        // It also refuses anything but a plain file.
        let bytes = try FileSum.sha256(path).bytes
        guard bytes <= Int64(bytesMax) else { throw BackupError(.damaged, "has more than \(bytesMax) bytes") }
        guard let content = FileManager.default.contents(atPath: path) else {
            throw BackupError(.damaged, "cannot be read")
        }
        return Array(content)
    }

    /// Returns the absolute path, so that a name that begins with a hyphen is never taken for an option.
    package static func absolute(_ path: String) -> String {
        var path = URL(fileURLWithPath: path).standardizedFileURL.path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }
}
