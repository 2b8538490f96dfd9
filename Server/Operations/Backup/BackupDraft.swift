import Foundation
import TidemarkStore

/// A backup that is being made: a folder beside its target, `TARGET.partial`, until ``seal(_:)`` and ``publish()`` give
/// it its name.
///
/// The remains of a killed backup are never taken for a backup: they have no manifest, and another name. The next
/// backup to the same target replaces them. Two backups at once are kept apart by a lock on the folder, which ends with
/// its process.
package final class BackupDraft: Sendable {
    static let suffix = ".partial"

    /// The path that the complete backup gets.
    package let target: String
    /// The path until then.
    package let path: String
    /// True when the remains of a killed backup were found and removed.
    package let replacedLeftovers: Bool
    private let lock: Int32

    /// Creates the folder, readable by its owner alone.
    ///
    /// - Throws: ``BackupError`` of kind `refused` when the target exists already, when another backup is being written
    ///   there, or when the folder cannot be created.
    package init(_ target: String) throws(BackupError) {
        let target = BackupFolder.absolute(target)
        self.target = target
        path = target + Self.suffix
        var status = stat()
        guard lstat(target, &status) != 0 else {
            throw BackupError(
                .refused, "\(target) is there already, and is left as it is: name another folder for this backup")
        }
        let parent = URL(fileURLWithPath: target).deletingLastPathComponent().path
        guard stat(parent, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw BackupError(
                .refused, "the folder \(parent), in which to write the backup, does not exist: create it first")
        }
        let made = mkdir(path, 0o700)
        guard made == 0 || errno == EEXIST else {
            throw BackupError(.refused, "\(path) cannot be made: \(FileSum.message(errno))")
        }
        lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard lock >= 0 else {
            throw BackupError(.refused, "\(path) is not a writable folder: move it away")
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(lock)
            throw BackupError(
                .refused,
                code == EWOULDBLOCK
                    ? "another backup is writing to \(path): wait for it, or name another folder"
                    : "\(path) cannot be locked (\(FileSum.message(code))): use a disk that can")
        }
        replacedLeftovers = made != 0
        do throws(BackupError) {
            if replacedLeftovers { try Self.clear(path) }
        } catch {
            close(lock)
            throw error
        }
    }

    deinit { close(lock) }

    /// Returns the path at which to write a file of the backup.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Removes the remains of a killed backup; refuses if there is anything else.
    private static func clear(_ path: String) throws(BackupError) {
        // An unlistable folder cannot be cleared either; writing the first file fails then.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let known = { (name: String) in BackupFolder.names.contains { name == $0 || name.hasPrefix($0 + "-") } }
        if let foreign = names.sorted().first(where: { !known($0) }) {
            throw BackupError(
                .refused, "\(path) holds \(foreign.debugDescription), which no backup made: move the folder away")
        }
        for name in names where unlink("\(path)/\(name)") != 0 {
            throw BackupError(.refused, "\(path)/\(name) cannot be removed: \(FileSum.message(errno))")
        }
    }

    /// Returns the checksum of a file that is written.
    package func sum(
        _ name: String, progress: (Int64) -> Void = { _ in }
    ) throws(BackupError) -> BackupManifest.File {
        do throws(BackupError) {
            let sum = try FileSum.sha256(file(name), progress: progress)
            return BackupManifest.File(name: name, bytes: sum.bytes, sha256: sum.digits)
        } catch {
            throw BackupError(.failed, "\(file(name)) \(error.description)")
        }
    }

    /// Writes the manifest, and waits until the whole backup is on the disk.
    ///
    /// - Returns: the backup as it is read from the disk, still without its final name.
    package func seal(_ manifest: BackupManifest) throws(BackupError) -> BackupFolder {
        let bytes: [UInt8]
        do { bytes = try manifest.encoded() } catch {
            throw BackupError(.failed, "the manifest cannot be written: \(error)")
        }
        try write(bytes, to: BackupFolder.manifestName)
        let all = manifest.files + [try sum(BackupFolder.manifestName)]
        let lines = all.map { "\($0.sha256)  \($0.name)\n" }.joined()
        try write(Array(lines.utf8), to: BackupFolder.sumsName)
        for file in manifest.files { try Self.synchronize(self.file(file.name)) }
        try Self.synchronize(path)
        return try BackupFolder.load(path)
    }

    /// Gives the sealed folder its final name: from then on it is a backup.
    package func publish() throws(BackupError) -> BackupFolder {
        guard rename(path, target) == 0 else {
            throw BackupError(.failed, "\(path) cannot be renamed to \(target): \(FileSum.message(errno))")
        }
        try Self.synchronize(URL(fileURLWithPath: target).deletingLastPathComponent().path)
        return try BackupFolder.load(target)
    }

    /// Removes what was written, after an error.
    package func abandon() {
        // What cannot be removed is harmless: its name is not a backup's.
        try? Self.clear(path)
        rmdir(path)
    }

    private func write(_ bytes: [UInt8], to name: String) throws(BackupError) {
        let descriptor = open(file(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw BackupError(.failed, "\(file(name)) cannot be made: \(FileSum.message(errno))")
        }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw BackupError(.failed, "\(file(name)) cannot be written: \(FileSum.message(errno))")
            }
            rest = rest.dropFirst(count)
        }
        guard DiskFlush.run(descriptor) else {
            throw BackupError(.failed, "\(file(name)) cannot be written: \(FileSum.message(errno))")
        }
    }

    /// Waits until a file or folder is on the disk.
    static func synchronize(_ path: String) throws(BackupError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw BackupError(.failed, "\(path) cannot be opened: \(FileSum.message(errno))")
        }
        defer { close(descriptor) }
        guard DiskFlush.run(descriptor) else {
            throw BackupError(.failed, "\(path) does not reach the disk: \(FileSum.message(errno))")
        }
    }
}
