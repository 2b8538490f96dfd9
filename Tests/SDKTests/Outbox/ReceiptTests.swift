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

    @Test func `a file from before has its receipts, and waiting writes continue`() throws {
        let folder = try TemporaryFolder()
        let before = try Bench(path: folder.path("a"))
        try before.join()
        for id: UInt64 in 1...3 { try before.write(id, .room(id)) }
        try before.apply(settled: .outcomes([(1, 1, nil), (2, 2, .quota)]))
        try before.database.writer.write { db in
            try db.execute(
                sql: """
                    ALTER TABLE tidemark_receipt ADD COLUMN n INTEGER NOT NULL DEFAULT 0;
                    CREATE INDEX tidemark_outbox_record_n ON tidemark_outbox_record (n);
                    INSERT INTO tidemark_receipt (id, n, state) SELECT id, n, 'queued' FROM \(Bench.pending);
                    """)
            try Meta.format.set(4, db)
        }
        try before.database.close()
        let now = try Bench(path: folder.path("a"))
        #expect(try step(now, 1) == .committed(seq: 101, time: 7_000))
        #expect(try step(now, 2) == .parked(Rejection(.quota, "because")))
        #expect(try step(now, 3) == .queued)
        #expect(try now.count("tidemark_receipt") == 2)
        #expect(try now.count("sqlite_master WHERE name = 'tidemark_outbox_record_n'") == 0)
        _ = try now.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        #expect(try step(now, 3) == .sending)
        try now.apply(from: "c1", to: "c2", settled: .accepted(3, 3))
        #expect(try step(now, 3) == .committed(seq: 103, time: 7_000))
    }
}
