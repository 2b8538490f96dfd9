import Crypto
import Foundation

/// Checksums of files, some megabytes at a time.
enum FileSum {
    private static let chunkBytes = 1 << 20

    /// Returns the SHA-256 of a file, and its size in bytes.
    ///
    /// - Parameters:
    ///   - afresh: whether to read from the disk, not from the system's cache of what was just written.
    ///   - progress: receives the bytes read so far.
    /// - Throws: ``BackupError`` when the file is missing, cannot be read, or is no plain file.
    static func sha256(
        _ path: String, afresh: Bool = false, progress: (Int64) -> Void = { _ in }
    ) throws(BackupError) -> (bytes: Int64, digits: String) {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw BackupError(.damaged, errno == ENOENT ? "is missing" : "cannot be read: \(message(errno))")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw BackupError(.damaged, "is no plain file")
        }
        if afresh { SystemMemory.forget(descriptor) }
        var hash = SHA256()
        var bytes: Int64 = 0
        var buffer = [UInt8](repeating: 0, count: chunkBytes)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw BackupError(.damaged, "cannot be read: \(message(errno))") }
            if count == 0 { break }
            buffer.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            bytes += Int64(count)
            progress(bytes)
        }
        let digits = hash.finalize().map { byte in
            let text = String(byte, radix: 16)
            return text.utf8.count == 2 ? text : "0" + text
        }
        return (bytes, digits.joined())
    }

    static func message(_ code: Int32) -> String { String(cString: strerror(code)) }
}
