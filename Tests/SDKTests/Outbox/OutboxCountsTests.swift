import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Numbers have no gaps and are never given twice, although no write stores the last one.
@Suite struct OutboxCountsTests {
    private let bench: Bench

    init() throws {
        bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
    }

    private func counts() throws -> [Int64] {
        try bench.database.writer.read { db in
            let counts = try OutboxCounts(db)
            return [counts.number, counts.written]
        }
    }

    private func written() throws -> [Int64] {
        try bench.database.writer.read {
            try Int64.fetchAll($0, sql: "SELECT written FROM \(Bench.pending) ORDER BY written")
        }
    }

    @Test func `an ordinary write stores neither, and the next ones continue from it`() throws {
        let before = try bench.string("SELECT group_concat(key || value) FROM tidemark_meta")
        for id in 1...3 as ClosedRange<UInt64> { #expect(try bench.write(id, .note(id)) == Int64(id)) }
        #expect(try bench.string("SELECT group_concat(key || value) FROM tidemark_meta") == before)
        #expect(try counts() == [3, 3])
        #expect(try written() == [1, 2, 3])
    }

    @Test func `a number that was settled is not given again`() throws {
        for id in 1...3 as ClosedRange<UInt64> { try bench.write(id, .note(id)) }
        try bench.apply(settled: .outcomes([(1, 1, nil), (2, 2, .forbidden)]))
        #expect(try counts() == [3, 3])
        try bench.apply(from: "c1", to: "c2", settled: .accepted(3, 3))
        #expect(try bench.count(Bench.pending) == 0)
        #expect(try counts() == [3, 3])
        #expect(try bench.write(4, .note(4)) == 4)
        #expect(try written() == [4])
    }

    @Test func `a number that its entry gave up is not given again, and the order of writing stays`() throws {
        try bench.write(1, .note(1))
        _ = try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        try bench.database.withhold(1, reason: "no answer")
        // Without a number, after withheld entries.
        #expect(try bench.write(2, .note(2)) > Withholding.firstWaitingNumber)
        #expect(try counts() == [1, 2])
        try bench.apply(settled: .outcomes([(1, 1, .invalid)]))
        #expect(try counts() == [1, 2])
        try bench.database.releaseWithheld()
        #expect(try counts() == [3, 2])
        #expect(try bench.write(3, .note(3)) == 4)
        #expect(try counts() == [4, 3])
        #expect(try written() == [1, 2, 3])
    }

    @Test func `under another client numbers begin anew, and the order of writing continues`() throws {
        for id in 1...4 as ClosedRange<UInt64> { try bench.write(id, .note(id)) }
        try bench.apply(settled: .outcomes([(1, 1, nil), (2, 2, nil)]))
        try bench.database.fork(newClient: UniqueID(high: 0xc2, low: 1))
        #expect(try counts() == [2, 4])
        #expect(try bench.write(5, .note(5)) == 3)
        #expect(try written() == [3, 4, 5])
    }
}
