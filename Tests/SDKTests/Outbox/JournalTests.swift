import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Settled transactions are kept until the server calls them safe.
@Suite struct JournalTests {
    private let bench: Bench

    /// Two accepted transactions, a refused one between them, and one that waits.
    init() throws {
        bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        try bench.write(1, .note(1, ["text": "a"]))
        try bench.write(2, .note(2))
        try bench.write(3, .set(.note(1), "text", "b"))
        _ = try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        try bench.apply(
            .note(1, seq: 103, born: 101, author: "ann", ["text": "b"]),
            settled: .outcomes([(1, 1, nil), (2, 2, .quota), (3, 3, nil)]))
        try bench.write(4, .set(.note(1), "text", "c"))
    }

    private func states() throws -> String? {
        try bench.string("SELECT group_concat(n || state) FROM (SELECT * FROM tidemark_outbox ORDER BY n)")
    }

    @Test func `a settled transaction stays in its table, and is pending nowhere`() throws {
        #expect(try states() == "1settled,2refused,3settled,4queued")
        #expect(try bench.database.pendingCount() == 1)
        #expect(try bench.database.writer.read({ try SyncCounts.fetch($0) }).pending == 1)
        #expect(try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999).map(\.number) == [4])
        #expect(try bench.database.step(of: .transaction(1)) == .committed(seq: 101, time: 7_000))
    }

    @Test func `safe transactions are deleted with the frame that says so`() throws {
        var frame = Changes.make(from: "c1", to: "c2", [])
        frame.durable = 101
        try bench.database.apply(frame, now: 9_000)
        #expect(try states() == "3settled,4queued")
        frame.from = "c2"
        frame.durable = 103
        try bench.database.apply(frame, now: 9_000)
        #expect(try states() == "4queued")
        #expect(try bench.string("SELECT value FROM tidemark_meta WHERE key = 'journal_bytes'") == "0")
        #expect(try bench.write(5, .note(5)) == 5)
    }

    @Test func `transactions settled a week ago are deleted, whatever the server calls safe`() throws {
        var welcome = Welcome.make(state: .ok, settledThrough: 3)
        welcome.now = 7_000 + LocalLimits().journalLifetime - 1
        try bench.database.welcomed(welcome)
        #expect(try states()?.hasPrefix("1settled") == true)
        welcome.now += 1
        try bench.database.welcomed(welcome)
        #expect(try states() == "4queued")
    }

    @Test func `the oldest are deleted if there are too many`() throws {
        let held = try Int64(bench.string("SELECT value FROM tidemark_meta WHERE key = 'journal_bytes'") ?? "") ?? 0
        #expect(held > 0)
        try bench.database.writer.write { try Journal(db: $0).bound(to: held) }
        #expect(try states()?.hasPrefix("1settled") == true)
        try bench.database.writer.write { try Journal(db: $0).bound(to: held - 1) }
        #expect(try states() == "2refused,3settled,4queued")
    }

    @Test func `of a lost scope no payload stays, and its numbers do`() throws {
        try bench.apply(
            from: "c1", to: "c2", grants: [.init(scope: RecordKey.room(1).scope, since: 110, role: nil)])
        #expect(try states() == "1refused,2refused,3refused,4void")
        let bodies = try bench.string("SELECT group_concat(body) FROM tidemark_outbox WHERE n IN (1, 3)") ?? ""
        #expect(!bodies.contains("text"))
    }

    @Test func `a number whose payload went with its scope stays without, also where a copy was accepted`() throws {
        try bench.apply(
            from: "c1", to: "c2", grants: [.init(scope: RecordKey.room(1).scope, since: 110, role: nil)])
        var cursor = 2
        for _ in 1...2 {
            try bench.database.welcomed(.make(state: .ok, settledThrough: 0))
            let push = try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
            #expect(push.map(\.number) == [1, 2, 3, 4])
            #expect(push.map { (try? $0.entry.content.get())?.mutations.count ?? 0 } == [0, 0, 0, 0])
            try bench.apply(
                from: "c\(cursor)", to: "c\(cursor + 1)",
                settled: .outcomes([(1, 1, nil), (2, 2, .quota), (3, 3, nil), (4, 4, .invalid)]))
            cursor += 1
        }
        #expect(try states() == "1refused,2refused,3refused,4refused")
    }

    @Test func `a deletion in a lost scope stays whole, since it contains no more than its record's id`() throws {
        try bench.write(5, .delete(.note(1)))
        _ = try bench.database.nextPush(after: 3, maxTransactions: 9, maxBytes: 9_999)
        try bench.apply(
            from: "c1", to: "c2", settled: .outcomes([(4, 4, nil), (5, 5, nil)]),
            grants: [.init(scope: RecordKey.room(1).scope, since: 110, role: nil)])
        #expect(try states() == "1refused,2refused,3refused,4refused,5settled")
    }

    /// A database that took a write on a note of room 1 out of a damaged file, and knows nothing else of the note.
    private func salvaged() throws -> Bench {
        let entry = try bench.database.writer.read { try OutboxTable(db: $0).entry(.transaction(4)) }
        var found = try #require(entry)
        found.number = 1
        let other = try Bench()
        let saved = Salvaged(entries: [.init(entry: found, transaction: try found.transaction())])
        try other.database.restore(saved, newClient: UniqueID(high: 0xc2, low: 1))
        try other.join(RecordKey.room(1).scope)
        _ = try other.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        return other
    }

    @Test(arguments: [false, true])
    func `a write out of a damaged file is of the scope that the server says of its record`(_ isHeld: Bool) throws {
        let other = try salvaged()
        let row = Change.note(1, seq: 110, born: 101, author: "ann", ["text": "b"])
        if isHeld { try other.apply(from: "c0", to: "c1", row) }
        let settled = Settled.accepted(1, 4)
        if isHeld {
            try other.apply(from: "c1", to: "c2", settled: settled)
        } else {
            try other.apply(from: "c0", to: "c2", row, settled: settled)
        }
        let body = try other.string("SELECT body FROM tidemark_outbox")
        #expect(body?.contains("text") == true, "it can be offered again")
        try other.apply(
            from: "c2", to: "c3", grants: [.init(scope: RecordKey.room(1).scope, since: 120, role: nil)])
        #expect(try other.string("SELECT body FROM tidemark_outbox")?.contains("text") == false)
    }

    @Test func `a write out of a damaged file keeps no payload where nobody says the scope of its record`() throws {
        let other = try salvaged()
        try other.apply(settled: .accepted(1, 4))
        #expect(try other.string("SELECT body FROM tidemark_outbox")?.contains("text") == false)
    }

    @Test func `a file from before the journal opens, and keeps transactions from then on`() throws {
        let folder = try TemporaryFolder()
        let old = try Bench(path: folder.path("a"))
        try old.join()
        try old.write(1, .room(1))
        try old.database.writer.write { db in
            try db.execute(
                sql: """
                    ALTER TABLE tidemark_outbox DROP COLUMN seq;
                    ALTER TABLE tidemark_outbox DROP COLUMN settled;
                    ALTER TABLE tidemark_outbox DROP COLUMN scopes;
                    ALTER TABLE tidemark_parked DROP COLUMN awaits;
                    DROP TABLE tidemark_rescue;
                    """)
            try Meta.format.set(7, db)
        }
        try old.database.close()
        #expect(try FileInspection(path: folder.path("a")).diagnostics().journal.transactions == 0)
        let opened = try Bench(path: folder.path("a"))
        _ = try opened.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        try opened.apply(settled: .accepted(1, 1))
        #expect(try opened.string("SELECT group_concat(n || state) FROM tidemark_outbox") == "1settled")
    }
}
