import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkSQLite

@testable import Tidemark

/// The times at which the write-ahead log is copied into the file.
@Suite(.timeLimit(.minutes(5))) struct LogTests {
    private static let copiedAt = 800_000
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func bench(rest: Duration) throws -> Bench {
        var limits = LocalLimits()
        limits.logCopiedAt = Self.copiedAt...Self.copiedAt
        limits.logRest = rest
        return Bench(
            database: try LocalDatabase.open(
                path: folder.path("x.sqlite"), account: Bench.user, schema: try TestSchema.schema(),
                newClient: Bench.client, limits: limits))
    }

    private func write(_ number: Int, _ bench: Bench) throws {
        try bench.write(
            UInt64(number), .note(UInt64(number), ["text": .string(String(repeating: "x", count: 90))]))
    }

    @Test func `it is copied at half of its file's size, and within its bounds`() {
        let sizes = [0, 400_000, 1_000_000, 4_000_000, 40_000_000].map {
            Checkpointer.pagesMin(beside: $0, pageBytes: 1_000, copiedAt: 250_000...1_000_000)
        }
        #expect(sizes == [250, 250, 500, 1_000, 1_000])
        #expect(Checkpointer.pagesMin(beside: 10, pageBytes: 0, copiedAt: 0...0) == 1)
    }

    @Test func `it is copied as soon as no write is running`() async throws {
        let bench = try bench(rest: .milliseconds(1))
        let checkpointer = try #require(bench.database.checkpointer)
        var (number, rounds) = (0, 0)
        repeat {
            rounds = checkpointer.rounds
            number += 1
            try write(number, bench)
        } while try logBytes() < Self.copiedAt * 11 / 10
        try await eventually { checkpointer.rounds != rounds }
        let before = try logBytes()
        for more in 1...5 { try write(number + more, bench) }
        #expect(try logBytes() <= before + 20_000, "begun anew")
    }

    @Test func `without a rest it is copied all the same, beside the writer, and stays small`() async throws {
        let bench = try bench(rest: .seconds(3_600))
        let checkpointer = try #require(bench.database.checkpointer)
        var number = 0
        while checkpointer.rounds < 3, !Task.isCancelled {
            number += 1
            try write(number, bench)
        }
        #expect(try logBytes() < Self.copiedAt * 5)
        try bench.database.close()
        let alone = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: folder.path("x.sqlite"), toPath: alone.path("x.sqlite"))
        let again = try Bench(path: alone.path("x.sqlite"))
        #expect(try again.count("notes") == number, "the file alone holds everything")
    }

    /// Bytes of the log's file; 0 when there is none.
    private func logBytes() throws -> Int {
        let path = folder.path("x.sqlite-wal")
        guard FileManager.default.fileExists(atPath: path) else { return 0 }
        return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    private func plain() throws -> Bench { try Bench(path: folder.path("x.sqlite")) }

    @Test func `beside a small file it stays small, however fast it is written`() throws {
        let bench = try plain()
        var largest = 0
        for number in 1...1_000 {
            try write(number, bench)
            largest = max(largest, try logBytes())
        }
        #expect(largest <= 4_000_000, "\(largest) bytes")
        #expect(try bench.database.pendingCount() == 1_000)
    }

    @Test func `the rest of a process's log is in the file once that is opened again`() throws {
        let left = try TemporaryFolder()
        let bench = try plain()
        for number in 1...20 { try write(number, bench) }
        for end in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: folder.path("x.sqlite\(end)"), toPath: left.path("x.sqlite\(end)"))
        }
        let again = try Bench(path: left.path("x.sqlite"))
        let log = try FileManager.default.attributesOfItem(atPath: left.path("x.sqlite-wal"))[.size] as? Int
        // Only writes during the opening, such as its version, are in it.
        #expect(try #require(log) < 20_000)
        #expect(try again.database.pendingCount() == 20)
    }

    @Test func `a store that is closed leaves no log`() throws {
        let bench = try plain()
        for number in 1...20 { try write(number, bench) }
        // By now a reader has a connection of its own.
        #expect(try bench.database.pendingCount() == 20)
        try bench.database.close()
        #expect(!FileManager.default.fileExists(atPath: folder.path("x.sqlite-wal")))
        #expect(try plain().database.pendingCount() == 20)
    }

    @Test func `a log that fills the disk is copied into the file, for which space was reserved`() throws {
        let disk = SmallDisk(under: folder, bytes: 6_000_000)
        var limits = LocalLimits()
        // Nothing else copies it.
        limits.logCopiedAt = 1 << 40...1 << 40
        let bench = Bench(
            database: try LocalDatabase.open(
                path: folder.path("x.sqlite"), account: Bench.user, schema: try TestSchema.schema(),
                newClient: Bench.client, limits: limits))
        var refused: StoreError?
        var number = 0
        while refused == nil, number < 40_000 {
            number += 1
            do { try write(number, bench) } catch { refused = error as? StoreError }
        }
        #expect(refused?.code == .diskFull)
        let file = DiskFile.bytes(of: folder.path("x.sqlite"))
        #expect(file > 500_000, "\(file) bytes of file after \(number) writes")
        #expect(try bench.database.pendingCount() == number - 1)
        withExtendedLifetime(disk) {}
    }

    @Test func `on a full disk it is copied, and its space is used for the next write`() throws {
        let disk = SmallDisk(under: folder, bytes: 6_000_000)
        let bench = try plain()
        var refused: StoreError?
        var number = 0
        while refused == nil, number < 40_000 {
            number += 1
            do { try write(number, bench) } catch { refused = error as? StoreError }
        }
        #expect(refused?.code == .diskFull)
        // Only a disk that is really full refuses: all but the reserve is used.
        let file = try bench.database.fileBytes()
        let log = try logBytes()
        #expect(Int(file) + log > 4_500_000, "\(file) bytes of file and \(log) of log after \(number) writes")
        let pending = try bench.database.pendingCount()
        #expect(pending == number - 1)
        try bench.database.close()
        disk.resize(to: try disk.usedBytes)
        let opened = try plain()
        #expect(try opened.database.pendingCount() == pending, "opened without any room")
        disk.resize(to: 8_000_000)
        for more in 1...50 { try write(number + more, opened) }
        #expect(try opened.database.pendingCount() == pending + 50)
    }
}

extension LocalDatabase {
    /// The size by the number of used pages; the log may hold some of them.
    func fileBytes() throws -> Int64 { try writer.read { try FileSize(db: $0).total() } }
}
