import Foundation
import Testing
import TidemarkModel
import TidemarkSQLite

@testable import Tidemark

/// Where the write-ahead log is copied into the file.
@Suite(.timeLimit(.minutes(5))) struct LogTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func bench(rest: Duration) throws -> Bench {
        var limits = LocalLimits()
        limits.logPagesMin = 200
        limits.logRest = rest
        return Bench(
            database: try LocalDatabase.open(
                path: folder.path("x.sqlite"), account: Bench.user, schema: try TestSchema.schema(),
                newClient: Bench.client, limits: limits))
    }

    /// Pages of the log, as far as it is in use or was.
    private func logPages() throws -> Int {
        let log = try FileManager.default.attributesOfItem(atPath: folder.path("x.sqlite-wal"))[.size] as? Int
        return try #require(log) / 4_096
    }

    private func write(_ number: Int, _ bench: Bench) throws {
        try bench.write(
            UInt64(number), .note(UInt64(number), ["text": .string(String(repeating: "x", count: 90))]))
    }

    @Test func `it is copied as soon as nothing is written`() async throws {
        let bench = try bench(rest: .milliseconds(1))
        let checkpointer = try #require(bench.database.checkpointer)
        var number = 0
        while try logPages() < 200 {
            number += 1
            try write(number, bench)
        }
        while checkpointer.rounds == 0, !Task.isCancelled { await Task.yield() }
        let before = try logPages()
        for more in 1...5 { try write(number + more, bench) }
        #expect(try logPages() <= before + 5, "begun anew")
    }

    @Test func `without a rest it is copied all the same, beside the writer, and stays small`() async throws {
        let bench = try bench(rest: .seconds(3_600))
        let checkpointer = try #require(bench.database.checkpointer)
        var number = 0
        while checkpointer.rounds < 3, !Task.isCancelled {
            number += 1
            try write(number, bench)
        }
        #expect(try logPages() < 200 * 5)
        try bench.database.close()
        #expect(!FileManager.default.fileExists(atPath: folder.path("x.sqlite-wal")), "the file alone holds everything")
        let again = try self.bench(rest: .zero)
        #expect(try again.count("notes") == number)
    }
}
