import Foundation
package import TidemarkStore

/// A restore into the files of an embedded store. They are made as `FILE.restoring` beside the target, and renamed when
/// all is done, the records' file last.
///
/// No server opens the file while `FILE.restoring` exists: no server uses the remains of a kill, and the next restore
/// starts again.
package final class EmbeddedRestoring {
    static let suffix = ".restoring"
    /// The files that SQLite may leave beside a file. A log of another file would be taken for the file's own.
    private static let companions = ["-wal", "-shm", "-journal"]

    private let target: String
    private let claim: FileClaim
    /// The files that are being made.
    package let records: String
    package let blobs: String
    /// True when an earlier restore was interrupted here.
    package let replacedLeftovers: Bool

    /// Makes the folder if it is missing, and keeps servers away from the file until the restore ends.
    ///
    /// - Throws: `StoreError` of kind `unavailable` when a server uses the file, or when the file exists.
    package init(_ target: String) throws(StoreError) {
        self.target = target
        records = target + Self.suffix
        blobs = EmbeddedBlobStore.path(besides: records)
        claim = try EmbeddedStore.claimFolder(target)
        let isThere = { (path: String) in FileManager.default.fileExists(atPath: path) }
        replacedLeftovers = isThere(records)
        let blobsTarget = EmbeddedBlobStore.path(besides: target)
        // An interrupted restore may have renamed the blobs' file already, but never the records' file.
        let files = [target] + (replacedLeftovers ? [] : [blobsTarget])
        for path in files.flatMap({ file in [file] + Self.companions.map { file + $0 } }) where isThere(path) {
            throw StoreError(
                .unavailable,
                "\(path) exists already and stays unchanged: move it away together with \(blobsTarget) and with the"
                    + " files whose names begin the same, or restore to another path")
        }
        for path in [records, blobs].flatMap({ file in [file] + Self.companions.map { file + $0 } })
        where isThere(path) {
            guard unlink(path) == 0 else {
                throw StoreError(.unavailable, "\(path) cannot be removed: \(String(cString: strerror(errno)))")
            }
        }
    }

    /// Renames the files to their final names: from then on a server may open them.
    ///
    /// - Throws: `StoreError` of kind `unavailable` when the disk refuses that.
    package func finish() throws(StoreError) {
        let blobsTarget = EmbeddedBlobStore.path(besides: target)
        for path in [records, blobs] {
            try Self.endLog(of: path)
            try Self.synchronize(path)
        }
        try Self.rename(blobs, blobsTarget)
        let folder = URL(fileURLWithPath: target).deletingLastPathComponent().path
        try Self.synchronize(folder)
        try Self.rename(records, target)
        try Self.synchronize(folder)
        for path in [records, blobs] { unlink(path + ".lock") }
        claim.release()
    }

    /// Removes the empty log of a closed store, which would stay behind under the old name.
    private static func endLog(of path: String) throws(StoreError) {
        var status = stat()
        guard stat(path + "-wal", &status) != 0 || status.st_size == 0 else {
            throw StoreError(.unavailable, "\(path)-wal could not be copied into its file: is the disk full?")
        }
        for companion in companions { unlink(path + companion) }
    }

    private static func rename(_ path: String, _ target: String) throws(StoreError) {
        guard Foundation.rename(path, target) == 0 else {
            throw StoreError(
                .unavailable, "\(path) cannot be renamed to \(target): \(String(cString: strerror(errno)))")
        }
    }

    private static func synchronize(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw StoreError(.unavailable, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        guard DiskFlush.run(descriptor) else {
            throw StoreError(.unavailable, "\(path) does not reach the disk: \(String(cString: strerror(errno)))")
        }
    }

    /// - Throws: `StoreError` of kind `unavailable` when a restore into the file was interrupted.
    static func check(_ path: String) throws(StoreError) {
        guard !FileManager.default.fileExists(atPath: path + suffix) else {
            throw StoreError(
                .unavailable,
                "a restore into \(path) is running, or was interrupted: run 'tidemark restore' again, or remove"
                    + " \(path)\(suffix) if the backup is not wanted")
        }
    }
}
