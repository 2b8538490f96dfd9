import Foundation
import TidemarkLock
import TidemarkStore

/// One process's claim to a database file: an advisory lock on `FILE.lock`, held until it is released.
///
/// Two writers of one file would break the workspace lock, which is this process's write queue. The lock file stays:
/// removing it would let a third process lock a new file of the same name while the second holds the removed one.
final class FileClaim: Sendable {
    /// `nil` once released.
    private let descriptor: Lock<CInt?>

    /// - Throws: `StoreError` of kind `unavailable` when another process, or this one, holds the file already.
    init(_ path: String) throws(StoreError) {
        let descriptor = try Self.openOwned("\(path).lock")
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno
            close(descriptor)
            throw StoreError(
                .unavailable,
                reason == EWOULDBLOCK
                    ? "another server uses \(path): stop it, or give this one its own file"
                    : "\(path).lock cannot be locked (\(Self.message(reason))): use a local disk")
        }
        self.descriptor = Lock(descriptor)
    }

    deinit { release() }

    /// Releases the file to others; a second call does nothing.
    func release() {
        descriptor.withLock {
            if let descriptor = $0 { close(descriptor) }
            $0 = nil
        }
    }

    /// Makes the file exist, readable and writable by its owner alone, before SQLite gives its WAL the same mode.
    static func restrict(_ path: String) throws(StoreError) {
        let descriptor = try openOwned(path)
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else {
            throw StoreError(.unavailable, "the mode of \(path) cannot be set (\(message(errno))): check its owner")
        }
    }

    private static func openOwned(_ path: String) throws(StoreError) -> CInt {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(
                .unavailable,
                "\(path) cannot be opened for writing (\(message(errno))): check the folder's owner and mode")
        }
        return descriptor
    }

    private static func message(_ code: CInt) -> String { String(cString: strerror(code)) }
}
