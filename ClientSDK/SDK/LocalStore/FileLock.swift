import Foundation
import TidemarkLock

/// Keeps a database's file to one store, until it is released or the process ends, however that ends.
///
/// Two stores on one file would have one client id between them, and each would evict the other at the server. The lock is
/// the system's, on a file beside the database that holds the number of the process. Whoever only reads needs none.
package final class FileLock: Sendable {
    private let path: String
    private let descriptor: Lock<CInt?>

    /// Held while the file is locked and let go here, and told of the second: a store that nobody keeps any more may be on
    /// its way out on another thread.
    private static let moves = NSCondition()
    /// Seconds that are waited for that.
    private static let patience: TimeInterval = 1
    /// Seconds between two looks meanwhile.
    private static let glance: TimeInterval = 0.02

    /// - Throws: `StoreError` with `inUse`, which names the process that has it; this one counts too.
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
                // A release wakes it. A process that is being started holds what this one had, for a moment, and wakes nobody.
                _ = Self.moves.wait(until: min(deadline, Date(timeIntervalSinceNow: Self.glance)))
            }
        }
    }

    private enum Attempt {
        /// `nil` where the file system has no locks: there it is the app's to see to it.
        case locked(CInt?)
        case taken(by: Int32?)
        /// Whoever had it took the file away before it was locked here.
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

    /// The process that has the database open; `nil` when none has, or the file system has no locks.
    ///
    /// Where the one that signed last has ended, nothing is locked to find out. Else, for an instant, this process shares the
    /// lock of a file that nobody has.
    package static func holder(of database: String) -> Int32? {
        let file = open("\(database).lock", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard let holder = holder(file), kill(holder, 0) == 0 || errno == EPERM else { return nil }
        return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK ? holder : nil
    }

    deinit { release() }

    /// Lets another one have it. Later calls do nothing.
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

    /// Takes the lock's own file away as well.
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

    /// On a disk without room it stays unsigned, which costs a refusal its number.
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
