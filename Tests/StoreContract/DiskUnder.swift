import Foundation
import GRDB
import GRDBSQLite
import Testing
import TidemarkLock

/// Counts the calls of a connection's log to the disk. A test decides the result of a write, and sees each flush.
///
/// It is between SQLite and the file. Keep it until the connection is closed.
final class DiskUnder: @unchecked Sendable {  // the pointers are only followed on the connection's queue
    private struct State {
        var writes = 0
        var refusals = 0
        var bytesMax = Int64.max
        var flushed: @Sendable () throws -> Void = {}
        var failure: (any Error)?
    }

    /// The disks by key, for C functions, which capture nothing.
    private static let disks = Lock<[Int: DiskUnder]>([:])

    private let key: Int
    private let methods: UnsafeMutablePointer<sqlite3_io_methods>
    private let original: UnsafePointer<sqlite3_io_methods>
    private let state = Lock(State())

    init(under db: Database) throws {
        var log: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
        try #require(code == SQLITE_OK)
        let file = try #require(log)
        original = try #require(file.pointee.pMethods)
        methods = .allocate(capacity: 1)
        var mine = original.pointee
        mine.xWrite = { file, bytes, count, offset in
            guard let file, let disk = DiskUnder.of(file) else { return SQLITE_MISUSE }
            return disk.write(through: offset + Int64(count))
                ? disk.original.pointee.xWrite(file, bytes, count, offset) : SQLITE_FULL
        }
        mine.xSync = { file, flags in
            guard let file, let disk = DiskUnder.of(file) else { return SQLITE_MISUSE }
            let code = disk.original.pointee.xSync(file, flags)
            disk.flush()
            return code
        }
        methods.initialize(to: mine)
        key = Int(bitPattern: file)
        file.pointee.pMethods = UnsafePointer(methods)
        Self.disks.withLock { $0[key] = self }
    }

    /// The number of writes to the log's file so far.
    var writes: Int { state.withLock { $0.writes } }

    /// Sets the number of next writes that find no space.
    func refuse(_ count: Int) { state.withLock { $0.refusals = count } }

    /// Limits the log to this length from now on.
    func fill(at bytes: Int64) { state.withLock { $0.bytesMax = bytes } }

    /// Sets a body that is called after each flush; ``leave()`` throws its first error.
    func onFlush(_ body: @escaping @Sendable () throws -> Void) { state.withLock { $0.flushed = body } }

    /// Ends the counting; call it after the connection is closed.
    func leave() throws {
        _ = Self.disks.withLock { $0.removeValue(forKey: key) }
        methods.deallocate()
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private static func of(_ file: UnsafeMutablePointer<sqlite3_file>) -> DiskUnder? {
        disks.withLock { $0[Int(bitPattern: file)] }
    }

    /// False when there is no space.
    private func write(through end: Int64) -> Bool {
        state.withLock { state in
            state.writes += 1
            guard end <= state.bytesMax else { return false }
            guard state.refusals > 0 else { return true }
            state.refusals -= 1
            return false
        }
    }

    private func flush() {
        let flushed = state.withLock { $0.flushed }
        do { try flushed() } catch { state.withLock { $0.failure = $0.failure ?? error } }
    }
}
