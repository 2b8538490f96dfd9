import Foundation
import GRDB
import Testing
import TidemarkLock
import TidemarkSQLite

/// The log of a SQLite file, written in large pieces.
@Suite struct GatheredLogTests {
    /// Runs with a file that has a table, and a connection whose log is written in large pieces.
    private func withQueue(
        isGathered: Bool = true, cachePages: Int = 2_000,
        _ body: (DatabaseQueue, DiskUnder, TemporaryFile) throws -> Void
    ) throws {
        let file = TemporaryFile()
        try FileManager.default.createDirectory(at: file.folder, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: file.path)
        let disk = try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            try db.execute(sql: "PRAGMA synchronous = FULL")
            try db.execute(sql: "PRAGMA cache_size = \(cachePages)")
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
            let disk = try DiskUnder(under: db)
            if isGathered { try db.gatherLogWrites() }
            return disk
        }
        try body(queue, disk, file)
        try queue.close()
        try disk.leave()
        try file.remove()
    }

    private func insert(_ numbers: Range<Int>, _ db: Database) throws {
        for number in numbers {
            let text = String(repeating: "\(number) ", count: 100)
            try db.execute(sql: "INSERT INTO item VALUES (?, ?)", arguments: [number, text])
        }
    }

    private func count(in path: String) throws -> Int? {
        let other = try DatabaseQueue(path: path)
        defer { #expect(throws: Never.self) { try other.close() } }
        return try other.read { db in
            try #require(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
            return try Int.fetchOne(db, sql: "SELECT count(*) FROM item")
        }
    }

    @Test func `the pages of a commit reach the system in few writes, and others see them`() throws {
        try withQueue { queue, disk, file in
            let before = disk.writes
            try queue.write { try insert(1..<1_001, $0) }
            #expect((2...10).contains(disk.writes - before))
            #expect(try count(in: file.path) == 1_000)
        }
        try withQueue(isGathered: false) { queue, disk, _ in
            let before = disk.writes
            try queue.write { try insert(1..<1_001, $0) }
            #expect(disk.writes - before > 100)
        }
    }

    @Test func `a power cut after a commit leaves all of it`() throws {
        try withQueue { queue, disk, file in
            let committing = Lock(0)
            let flushes = Lock(0)
            disk.onFlush {
                // The files when the disk has answered: nothing of this commit may be missing.
                let copy = TemporaryFile()
                try FileManager.default.createDirectory(at: copy.folder, withIntermediateDirectories: true)
                for suffix in ["", "-wal"] {
                    try FileManager.default.copyItem(atPath: file.path + suffix, toPath: copy.path + suffix)
                }
                #expect(try count(in: copy.path) == committing.withLock { $0 })
                flushes.withLock { $0 += 1 }
                try copy.remove()
            }
            for step in 1...5 {
                committing.withLock { $0 = step * 300 }
                try queue.write { try insert((step - 1) * 300..<step * 300, $0) }
            }
            #expect(flushes.withLock { $0 } == 5)
            disk.onFlush {}
        }
    }

    @Test func `a transaction larger than the cache reads its own pages back, and can be rolled back`() throws {
        try withQueue(cachePages: 10) { queue, _, file in
            try queue.write { try insert(0..<100, $0) }
            try queue.writeWithoutTransaction { db in
                try db.inTransaction {
                    try insert(100..<3_000, db)
                    try db.execute(sql: "UPDATE item SET text = text || 'x' WHERE id % 3 = 0")
                    #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM item WHERE text LIKE '%x'") == 1_000)
                    return .rollback
                }
            }
            #expect(try count(in: file.path) == 100)
            try queue.write { try insert(100..<2_000, $0) }
            #expect(try count(in: file.path) == 2_000)
        }
    }

    @Test func `a log that was copied into the file begins anew`() throws {
        try withQueue { queue, _, file in
            for step in 0..<4 {
                try queue.write { try insert(step * 200..<(step + 1) * 200, $0) }
                try queue.writeWithoutTransaction { db in _ = try db.checkpoint(step == 3 ? .truncate : .restart) }
                #expect(try count(in: file.path) == (step + 1) * 200)
            }
        }
    }

    @Test func `a commit without space fails whole, and the next one succeeds`() throws {
        try withQueue { queue, disk, file in
            try queue.write { try insert(0..<10, $0) }
            disk.refuse(1)
            let error = #expect(throws: DatabaseError.self) { try queue.write { try insert(10..<500, $0) } }
            #expect(error?.resultCode == .SQLITE_FULL)
            #expect(try count(in: file.path) == 10)
            try queue.write { try insert(10..<20, $0) }
            #expect(try count(in: file.path) == 20)
        }
    }

    /// The size of the log's file in bytes.
    private func logBytes(of file: TemporaryFile) throws -> Int64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path + "-wal")
        return try #require(attributes[.size] as? Int64)
    }

    @Test func `a log grows by more than a commit, so that most commits keep its length`() throws {
        try withQueue { queue, _, file in
            var lengths: [Int64] = []
            for number in 0..<200 {
                try queue.write { try insert(number..<number + 1, $0) }
                lengths.append(try logBytes(of: file))
            }
            #expect(lengths == lengths.sorted())
            #expect((2...20).contains(Set(lengths).count))
            // When it begins anew, it is overwritten.
            let grown = try logBytes(of: file)
            try queue.writeWithoutTransaction { db in _ = try db.checkpoint(.restart) }
            try queue.write { try insert(200..<300, $0) }
            #expect(try logBytes(of: file) == grown)
            // When it is cut, it grows again.
            try queue.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
            try queue.write { try insert(300..<301, $0) }
            let first = try logBytes(of: file)
            try queue.write { try insert(301..<302, $0) }
            #expect(try logBytes(of: file) == first)
            #expect(try count(in: file.path) == 302)
        }
    }

    @Test func `a commit that fits is written even if the log cannot grow ahead of it`() throws {
        try withQueue { queue, disk, file in
            try queue.write { try insert(0..<1, $0) }
            let length = try logBytes(of: file)
            disk.fill(at: length + 20_000)
            var made = 1
            let error = #expect(throws: DatabaseError.self) {
                while true {
                    try queue.write { try insert(made..<made + 1, $0) }
                    made += 1
                }
            }
            #expect(error?.resultCode == .SQLITE_FULL)
            #expect(try logBytes(of: file) > length)
            #expect(try count(in: file.path) == made)
            disk.fill(at: .max)
            try queue.write { try insert(made..<made + 5, $0) }
            #expect(try count(in: file.path) == made + 5)
        }
    }

    @Test func `on a full disk the log can still be copied and begun anew`() throws {
        // Both SQLite's own log, and the log written in pieces.
        for isGathered in [false, true] {
            try withQueue(isGathered: isGathered) { queue, disk, file in
                try queue.write { try insert(0..<200, $0) }
                // The space that was reserved ahead may be overwritten.
                let length = try logBytes(of: file)
                disk.fill(at: length)
                let error = #expect(throws: DatabaseError.self) { try queue.write { try insert(200..<2_000, $0) } }
                #expect(error?.resultCode == .SQLITE_FULL)
                #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 200)
                // The disk is as full as before. No call from here on makes the log longer.
                try queue.writeWithoutTransaction { db in _ = try db.checkpoint(.restart) }
                try queue.write { try insert(200..<260, $0) }
                #expect(try count(in: file.path) == 260)
                #expect(try logBytes(of: file) == length)
                try queue.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
                #expect(try logBytes(of: file) == 0)
            }
        }
    }

    @Test func `a large transaction that fails on a full disk leaves no page to the next one`() throws {
        try withQueue(cachePages: 10) { queue, disk, file in
            try queue.write { try insert(0..<100, $0) }
            disk.fill(at: try logBytes(of: file) + 100_000)
            #expect(throws: DatabaseError.self) { try queue.write { try insert(100..<5_000, $0) } }
            try queue.write { try insert(100..<110, $0) }
            disk.fill(at: .max)
            try queue.write { try insert(110..<2_000, $0) }
            #expect(try count(in: file.path) == 2_000)
        }
    }

    @Test func `a connection whose commits do not wait for the disk is refused`() throws {
        try withQueue(isGathered: false) { queue, _, _ in
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = NORMAL")
                #expect(throws: DatabaseError.self) { try db.gatherLogWrites() }
            }
        }
        let memory = try DatabaseQueue()
        memory.writeWithoutTransaction { db in
            _ = #expect(throws: DatabaseError.self) { try db.gatherLogWrites() }
        }
        try memory.close()
    }
}
