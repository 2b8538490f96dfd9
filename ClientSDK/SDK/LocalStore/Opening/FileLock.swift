import Foundation
import TidemarkLock

/// Keeps a database's file to one store, until it is released or the process ends in any way.
///
/// Two stores on one file would share one client id, and each would evict the other at the server. The lock is the
/// system's, on a file beside the database that holds the number of the process. Readers need none.
package final class FileLock: Sendable {
    private let path: String
    private let descriptor: Lock<CInt?>

    /// Held while the file is locked and released here, and signalled at a release: a store that is no longer used may
    /// be closing on another thread.
    private static let moves = NSCondition()
    /// The seconds to wait for such a release.
    private static let patience: TimeInterval = 1
    /// The seconds between two looks meanwhile.
    private static let glance: TimeInterval = 0.02

    /// - Throws: `StoreError` with `inUse`, which names the process that has the file open; it may be this one.
    package init(of database: String) throws {
        path = "\(database).lock"
        Self.moves.lock()
        defer { Self.moves.unlock() }
        let deadline = Date(timeIntervalSinceNow: Self.patience)
        while true {
            switch try Self.lock(path) {
            case .locked(let file):
                descriptor = Lock(file)
                return
            case .gone: continue
            case .taken(let holder):
                guard holder == getpid(), Date() < deadline else {
                    throw StoreError(.inUse, Self.refusal(database, holder))
                }
                // A release wakes it. A starting child process holds this one's descriptors for a moment, and wakes
                // nothing.
                _ = Self.moves.wait(until: min(deadline, Date(timeIntervalSinceNow: Self.glance)))
            }
        }
    }

    private enum Attempt {
        /// `nil` if the file system has no locks: there the app has to prevent a second store.
        case locked(CInt?)
        case taken(by: Int32?)
        /// The holder deleted the file before it was locked here.
        case gone
    }

    private static func lock(_ path: String) throws -> Attempt {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path]) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let isTaken = errno == EWOULDBLOCK
            let holder = holder(file)
            close(file)
            return isTaken ? .taken(by: holder) : .locked(nil)
        }
        guard Self.is(file, at: path) else {
            close(file)
            return .gone
        }
        sign(file)
        return .locked(file)
    }

    /// Returns the process that has the database open; `nil` when none has, or the file system has no locks.
    ///
    /// If the process that signed last has ended, nothing is locked to find out. Otherwise, if no process holds the
    /// file, this one shares its lock for an instant.
    package static func holder(of database: String) -> Int32? {
        let file = open("\(database).lock", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard let holder = holder(file), kill(holder, 0) == 0 || errno == EPERM else { return nil }
        return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK ? holder : nil
    }

    deinit { release() }

    /// Releases the file for other stores. Later calls do nothing.
    func release() {
        let file = descriptor.withLock { file in
            defer { file = nil }
            return file
        }
        guard let file else { return }
        Self.moves.lock()
        close(file)
        Self.moves.broadcast()
        Self.moves.unlock()
    }

    /// Deletes the lock's own file as well.
    func remove() throws {
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        release()
    }

    private static func refusal(_ database: String, _ holder: Int32?) -> String {
        switch holder {
        case getpid():
            "this process has \(database) open already: keep one store for an account, or close() the first"
        case let holder?:
            "process \(holder) has \(database) open: end it first, or open another folder"
        case nil:
            "another process has \(database) open: end it first, or open another folder"
        }
    }

    private static func holder(_ file: CInt) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(
            String(decoding: bytes.prefix(count), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// On a full disk it stays unsigned; then a refusal cannot name the process.
    private static func sign(_ file: CInt) {
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(file, 0)
        _ = pwrite(file, text, text.count, 0)
    }

    private static func `is`(_ file: CInt, at path: String) -> Bool {
        var (mine, there) = (stat(), stat())
        guard fstat(file, &mine) == 0, stat(path, &there) == 0 else { return false }
        return mine.st_ino == there.st_ino && mine.st_dev == there.st_dev
    }
}
