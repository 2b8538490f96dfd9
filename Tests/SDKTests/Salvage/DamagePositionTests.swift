import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkSQLite
import TidemarkWire

@testable import Tidemark

/// Damage at every position of a file: everything that a reader could still read is rescued, damage is always reported,
/// and nothing crashes.
@Suite(.timeLimit(.minutes(10))) struct DamagePositionTests {
    private static let writes = 120
    private static let page = LocalLimits().pageBytes

    /// An installation's files, with all data in the main file or all in the log.
    private struct Original {
        let names: [String: Data]

        init(inLog: Bool, pageBytes: Int = DamagePositionTests.page) throws {
            let file = try FileDamage()
            var limits = LocalLimits()
            limits.pageBytes = pageBytes
            if inLog { limits.logCopiedAt = 1 << 40...1 << 40 }
            let database = try file.opening(limits).open().database
            let bench = Bench(database: database)
            try bench.join(RecordKey.room(1).scope)
            for number in 1...DamagePositionTests.writes {
                try bench.write(UInt64(number), .note(UInt64(number), ["text": .string("n\(number).")]))
            }
            // A copy in progress would keep this one out.
            if !inLog {
                try database.checkpointer?.close()
                try database.writer.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
            }
            var names: [String: Data] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: file.folder.url.path) {
                names[name] = try Data(contentsOf: file.folder.url.appending(path: name))
            }
            try database.close()
            self.names = names
        }

        /// The same files in another folder; `change` damages the file and its log.
        func damaged(_ change: (_ main: inout Data, _ log: inout Data) -> Void) throws -> FileDamage {
            let copy = try FileDamage()
            let name = DatabaseFile.name(Bench.user)
            var (main, log) = (names[name] ?? Data(), names["\(name)-wal"] ?? Data())
            change(&main, &log)
            for (other, bytes) in names where other != "tidemark.install" {
                try bytes.write(to: copy.folder.url.appending(path: other))
            }
            try main.write(to: URL(fileURLWithPath: copy.path))
            try log.write(to: URL(fileURLWithPath: "\(copy.path)-wal"))
            return copy
        }
    }

    /// Opens it, and counts the transactions that wait to be sent or are parked.
    private func rescued(_ file: FileDamage) throws -> (count: Int, isSaid: Bool) {
        let (bench, notice) = try file.open()
        let ids = Set(try bench.database.nextPush(after: 0, maxTransactions: 1_000, maxBytes: .max).map(\.entry.id))
        let parked = Set(try bench.database.parked().map { Optional($0.transaction.id) })
        let isSaid: Bool
        switch notice {
        case .recovered?: isSaid = true
        case .copied?, nil: isSaid = false
        }
        try bench.database.close()
        return (ids.union(parked).count, isSaid)
    }

    /// The number of writes that a reader finds one by one by their numbers, behind a valid header.
    private func readable(_ main: Data) throws -> Int {
        guard main.count >= Self.page else { return 0 }
        var main = main
        main.removeLast(main.count % Self.page)
        // The number of pages, marked as valid; no log.
        main.replaceSubrange(28..<32, with: withUnsafeBytes(of: UInt32(main.count / Self.page).bigEndian) { Data($0) })
        main.replaceSubrange(92..<96, with: main[24..<28])
        main.replaceSubrange(18..<20, with: [1, 1])
        let folder = try TemporaryFolder()
        try main.write(to: URL(fileURLWithPath: folder.path("read.sqlite")))
        // If not even the names of the tables can be read, this reader finds nothing.
        guard let queue = try? DatabaseQueue(path: folder.path("read.sqlite")) else { return 0 }
        return queue.inDatabase { db in
            (1...Self.writes).count { number in
                let sql = "SELECT body FROM tidemark_outbox WHERE n = ?"
                // An unreadable write is not counted.
                guard let body = try? String.fetchOne(db, sql: sql, arguments: [number]) else { return false }
                return (try? OutboxEntry.transaction(body)) != nil
            }
        }
    }

    @Test func `without its first page, or a part of it, everything is rescued`() throws {
        let original = try Original(inLog: false)
        for damage in [0..<16, 0..<100, 16..<24, 28..<32, 92..<96, 100..<112, 0..<Self.page, 100..<Self.page] {
            for byte in [UInt8(0), 0xa5, 0xff] {
                let file = try original.damaged { main, _ in
                    main.replaceSubrange(damage, with: Data(repeating: byte, count: damage.count))
                }
                let (count, _) = try rescued(file)
                #expect(count == Self.writes, "bytes \(damage) are \(byte)")
            }
        }
    }

    @Test func `a missing header is written anew, also if no first page was kept`() throws {
        let original = try Original(inLog: false)
        for damage in [0..<16, 0..<100] {
            let file = try original.damaged { main, _ in
                main.replaceSubrange(damage, with: Data(repeating: 0xa5, count: damage.count))
            }
            try FirstPage(beside: file.path).forget()
            let (count, isSaid) = try rescued(file)
            #expect(count == Self.writes && isSaid, "bytes \(damage)")
        }
    }

    /// A phone may still have such a file from last month.
    @Test func `a file with pages of another size is rescued as well, whatever was kept of it`() throws {
        let page = 4_096
        let original = try Original(inLog: false, pageBytes: page)
        let main = try #require(original.names[DatabaseFile.name(Bench.user)])
        for damage in [0..<16, 0..<100, 0..<page] {
            for kept in [main[0..<page], nil] where kept != nil || damage.count < page {
                let file = try original.damaged { main, _ in
                    main.replaceSubrange(damage, with: Data(repeating: 0xa5, count: damage.count))
                }
                if let kept {
                    try kept.write(to: FirstPage(beside: file.path).url)
                } else {
                    try FirstPage(beside: file.path).forget()
                }
                let (count, isSaid) = try rescued(file)
                #expect(count == Self.writes && isSaid, "bytes \(damage), kept: \(kept != nil)")
            }
        }
    }

    /// The kept page may be written by anything: a disk, a backup, another program.
    @Test func `any kept page is accepted, and only the data it leads to is missed`() throws {
        let original = try Original(inLog: false)
        let one = #"{"type":"table","name":"tidemark_outbox","table":"tidemark_outbox","root":-7,"sql":"SQL"}"#
        let long = String(repeating: "x", count: 5_000)
        let many = Array(repeating: one, count: 5_000).joined(separator: ",")
        for kept in [
            "", "{", "SQLite format 3\0", #"{"pageSize":0,"definitions":[]}"#,
            #"{"pageSize":1048576,"definitions":[]}"#,
            #"{"pageSize":1024,"definitions":[]}"#, #"{"pageSize":1024,"definitions":[\#(one)]}"#,
            #"{"pageSize":1024,"definitions":[\#(one.replacing("SQL", with: long))]}"#,
            #"{"pageSize":1024,"definitions":[\#(many)]}"#,
        ] {
            let file = try original.damaged { main, _ in
                main.replaceSubrange(0..<Self.page, with: Data(repeating: 0xa5, count: Self.page))
            }
            try Data(kept.utf8).write(to: FirstPage(beside: file.path).url)
            let (count, isSaid) = try rescued(file)
            #expect(count == 0 && isSaid, "kept: \(kept.prefix(60))")
        }
    }

    @Test func `whichever page is lost, the others are rescued`() throws {
        let original = try Original(inLog: false)
        let main = try #require(original.names[DatabaseFile.name(Bench.user)])
        for page in 1..<main.count / Self.page {
            let lost = page * Self.page..<(page + 1) * Self.page
            var damaged = main
            damaged.replaceSubrange(lost, with: Data(repeating: 0xa5, count: Self.page))
            let file = try original.damaged { main, _ in main = damaged }
            let (count, isSaid) = try rescued(file)
            let least = try readable(damaged)
            #expect(count >= least, "page \(page)")
            #expect(isSaid || count == Self.writes, "page \(page): \(count) of \(Self.writes) and not a word")
        }
    }

    @Test func `two lost pages cost their own data, and not that between them`() throws {
        let original = try Original(inLog: false)
        let main = try #require(original.names[DatabaseFile.name(Bench.user)])
        var damaged = main
        var pages = 0
        for text in ["\"n30.\"", "\"n90.\""] {
            for page in 1..<main.count / Self.page {
                let range = page * Self.page..<(page + 1) * Self.page
                guard main.range(of: Data(text.utf8), in: range) != nil else { continue }
                damaged.replaceSubrange(range, with: Data(repeating: 0xa5, count: Self.page))
                pages += 1
            }
        }
        let file = try original.damaged { main, _ in main = damaged }
        let (count, isSaid) = try rescued(file)
        let least = try readable(damaged)
        #expect(pages >= 2 && isSaid && least < Self.writes && least > Self.writes / 2)
        #expect(count >= least)
    }

    @Test func `a file cut off anywhere is rescued up to the cut`() throws {
        let original = try Original(inLog: false)
        let main = try #require(original.names[DatabaseFile.name(Bench.user)])
        for size in stride(from: 0, to: main.count, by: 6_000) {
            let left = main.prefix(size)
            let file = try original.damaged { main, _ in main = left }
            let (count, isSaid) = try rescued(file)
            let least = try readable(Data(left))
            #expect(count >= least && isSaid, "\(size) bytes: \(count) of \(least), said: \(isSaid)")
        }
    }

    @Test func `a file cut off inside a page is rescued up to the cut too`() throws {
        let original = try Original(inLog: false)
        let main = try #require(original.names[DatabaseFile.name(Bench.user)])
        let written = (1..<main.count / Self.page).filter { page in
            main.range(of: Data("\"ops\"".utf8), in: page * Self.page..<(page + 1) * Self.page) != nil
        }
        // Another part of the file has newer data than the last page.
        for page in stride(from: 0, to: written.count - 1, by: 8).map({ written[$0] }) {
            let whole = try rescued(original.damaged { main, _ in main = main.prefix(page * Self.page) })
            let size = page * Self.page + Self.page * 3 / 4
            let (count, isSaid) = try rescued(original.damaged { main, _ in main = main.prefix(size) })
            #expect(count > whole.count && isSaid, "page \(page): \(count), \(whole.count) without, said: \(isSaid)")
        }
        #expect(written.count > 20)
    }

    @Test func `data in the log is rescued without its file`() throws {
        let original = try Original(inLog: true)
        let main = try #require(original.names[DatabaseFile.name(Bench.user)])
        for left in [main.prefix(0), main.prefix(100), main.prefix(5_000)] {
            let file = try original.damaged { main, _ in main = Data(left) }
            let (count, isSaid) = try rescued(file)
            #expect(count == Self.writes, "\(left.count) bytes of the file")
            // If the log holds the beginning of the file as well, nothing is lost and nothing is reported.
            #expect(isSaid || !left.isEmpty)
        }
        let garbage = try original.damaged { main, _ in main = Data(repeating: 0xa5, count: main.count) }
        #expect(try rescued(garbage).count == Self.writes)
    }

    @Test func `a damaged log costs the writes after the damage, and never the file`() throws {
        let original = try Original(inLog: true)
        let log = try #require(original.names["\(DatabaseFile.name(Bench.user))-wal"])
        var counts: [Int] = []
        for size in stride(from: 0, to: log.count, by: log.count / 9) {
            let file = try original.damaged { _, log in log = Data(log.prefix(size)) }
            counts.append(try rescued(file).count)
        }
        #expect(counts == counts.sorted() && (counts.last ?? 0) > Self.writes / 2, "\(counts)")
        let headless = try original.damaged { main, log in
            log.replaceSubrange(0..<32, with: Data(repeating: 0, count: 32))
            main = Data()
        }
        #expect(try rescued(headless).count == Self.writes)
    }

    @Test func `an invalid index of the log is rebuilt`() throws {
        let original = try Original(inLog: true)
        let file = try original.damaged { _, _ in }
        try Data(repeating: 0xa5, count: 32_768).write(to: URL(fileURLWithPath: "\(file.path)-shm"))
        #expect(try rescued(file).count == Self.writes)
    }

    @Test func `an empty file in the path of an account is noticed, and a new one is not`() throws {
        let original = try Original(inLog: false)
        let empty = try original.damaged { main, _ in main = Data() }
        #expect(try rescued(empty).isSaid)
        let gone = try original.damaged { main, _ in main = Data() }
        try FileManager.default.removeItem(atPath: gone.path)
        #expect(try rescued(gone).isSaid)
        let new = try FileDamage()
        #expect(FileManager.default.createFile(atPath: new.path, contents: nil))
        #expect(try !rescued(new).isSaid)
    }
}
