import Foundation
import GRDB
import GRDBSQLite
import Testing
import TidemarkLock

@testable import Tidemark

/// The disk under a database's log, where a test decides the result of the writer's flushes.
///
/// It is between SQLite and the file, so that it sees the real calls to the disk. Call `leave` before the database is
/// closed.
final class LogDisk: @unchecked Sendable {  // the pointers are only followed on the writer's queue
    /// Replaces the disk's answer to SQLite. `body` flushes.
    typealias Answer = @Sendable (_ body: () -> Int32) -> Int32

    private struct State {
        var flushes = 0
        var answer: Answer = { flush in flush() }
    }

    /// The disks by key, for C functions, which capture nothing.
    private static let disks = Lock<[Int: LogDisk]>([:])

    private let database: LocalDatabase
    private let file: FilePointer
    private let methods: UnsafeMutablePointer<sqlite3_io_methods>
    private let original: UnsafePointer<sqlite3_io_methods>
    private let state = Lock(State())

    init(under database: LocalDatabase) throws {
        self.database = database
        file = try database.writer.writeWithoutTransaction { db in
            var file: UnsafeMutablePointer<sqlite3_file>?
            let code = sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
            try #require(code == SQLITE_OK)
            return FilePointer(pointee: try #require(file))
        }
        original = try #require(file.pointee.pointee.pMethods)
        methods = .allocate(capacity: 1)
        var mine = original.pointee
        mine.xSync = { file, flags in
            guard let file, let disk = LogDisk.disks.withLock({ $0[Int(bitPattern: file)] }) else {
                return SQLITE_MISUSE
            }
            return disk.flush(file, flags)
        }
        methods.initialize(to: mine)
        let key = Int(bitPattern: file.pointee)
        Self.disks.withLock { $0[key] = self }
        file.pointee.pointee.pMethods = UnsafePointer(methods)
    }

    /// The number of flushes of the log.
    var flushes: Int { state.withLock { $0.flushes } }

    /// Sets the answer from now on.
    func answers(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

    /// Gives the file back to SQLite.
    func leave() {
        database.writer.writeWithoutTransaction { _ in
            file.pointee.pointee.pMethods = original
            let key = Int(bitPattern: file.pointee)
            _ = Self.disks.withLock { $0.removeValue(forKey: key) }
        }
        methods.deallocate()
    }

    private func flush(_ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32) -> Int32 {
        let answer = state.withLock { state in
            state.flushes += 1
            return state.answer
        }
        return answer { original.pointee.xSync(file, flags) }
    }
}

/// Passed from the writer's queue to the test, which keeps the database as long.
private struct FilePointer: @unchecked Sendable {
    let pointee: UnsafeMutablePointer<sqlite3_file>
}
