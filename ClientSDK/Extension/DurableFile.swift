import Foundation

/// Writes a file atomically: a reader sees all of it or none, even if the process ends meanwhile. It holds no lock: a
/// process that is suspended in the middle blocks nobody.
enum DurableFile {
    /// The prefix of files that are being written, or were when their writer ended.
    static let partPrefix = ".part-"

    /// - Parameters:
    ///   - part: makes the name of the temporary file unique.
    ///   - isDurable: false for a file that is written again anyway: after a power cut it may be the previous one, or
    ///     cut.
    static func write(
        _ bytes: Data, to name: String, in folder: URL, part: String, isDurable: Bool = true
    ) throws(SharingError) {
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch { throw SharingError(.unusable, "\(folder.path): no folder can be made there: \(error)") }
        let temporary = folder.appending(path: partPrefix + part).path
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(temporary) }
        do throws(SharingError) {
            try fill(descriptor, with: bytes, temporary)
            if isDurable { guard flush(descriptor) else { throw failure(temporary) } }
        } catch {
            close(descriptor)
            unlink(temporary)
            throw error
        }
        close(descriptor)
        guard rename(temporary, folder.appending(path: name).path) == 0 else {
            let error = failure(temporary)
            unlink(temporary)
            throw error
        }
        if isDurable { try confirm(folder) }
    }

    /// Makes the names in a folder durable.
    ///
    /// - Throws: `unconfirmed`.
    static func confirm(_ folder: URL) throws(SharingError) {
        let descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, flush(descriptor) else {
            let why = String(cString: strerror(errno))
            throw SharingError(.unconfirmed, "\(folder.path): written, but the disk did not confirm it: \(why)")
        }
    }

    private static func fill(_ descriptor: CInt, with bytes: Data, _ path: String) throws(SharingError) {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                put(descriptor, buffer.baseAddress.map { $0 + offset }, bytes.count - offset)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(path) }
            offset += count
        }
    }

    private static func flush(_ descriptor: CInt) -> Bool {
        #if canImport(Darwin)
        // `fsync` does not ask the disk itself on Darwin; this does.
        if fcntl(descriptor, F_FULLFSYNC, 0) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    private static func failure(_ path: String) -> SharingError {
        let code = errno
        let isFull = code == ENOSPC || code == EDQUOT
        return SharingError(
            isFull ? .diskFull : .unusable, "\(path): nothing was written: \(String(cString: strerror(code)))")
    }
}

/// Calls the system's function, whose name a method hides.
private func put(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
