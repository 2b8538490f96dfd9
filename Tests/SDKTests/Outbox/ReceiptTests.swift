import GRDB
import Testing
import TidemarkModel

@testable import Tidemark

/// The progress of a transaction, by its state in the outbox and then by its outcome.
@Suite(.timeLimit(.minutes(5))) struct ReceiptTests {
    private func step(_ bench: Bench, _ id: UInt64) throws -> WriteStep? {
        try bench.database.step(of: .transaction(id))
    }

    @Test func `before its outcome a transaction is only in the outbox`() throws {
        let bench = try Bench()
        try bench.join()
        try bench.write(1, .room(1))
        try bench.write(2, .room(2))
        #expect(try step(bench, 1) == .queued)
        _ = try bench.database.nextPush(after: 0, maxTransactions: 1, maxBytes: 9_999)
        #expect(try step(bench, 1) == .sending && step(bench, 2) == .queued)
        #expect(try bench.count("tidemark_receipt") == 0)
        try bench.apply(settled: .accepted(1, 1))
        #expect(try step(bench, 1) == .committed(seq: 101, time: 7_000) && step(bench, 2) == .queued)
        #expect(try bench.count("tidemark_receipt") == 1)
        #expect(try step(bench, 3) == nil)
    }

    @Test func `a withdrawn transaction may be at the server, and a waiting one is not`() throws {
        let bench = try Bench()
        try bench.join()
        try bench.write(1, .room(1))
        try bench.write(2, .note(1))
        _ = try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        try bench.database.withhold(1, reason: "no answer")
        try bench.write(3, .note(2))
        #expect(try step(bench, 1) == .sending && step(bench, 2) == .sending)
        #expect(try step(bench, 3) == .queued)
    }
}
