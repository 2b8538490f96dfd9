import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct EchoTests {
    private let room = RecordKey.room(1).scope

    private func bench() throws -> Bench {
        let bench = try Bench()
        try bench.join(room)
        return bench
    }

    @Test func `the echo of an own create fills in the server's values`() throws {
        let bench = try bench()
        try bench.write(1, .note(1, ["text": "hi"]))
        let rowid = try bench.string("SELECT rowid FROM notes")
        try bench.apply(.note(1, seq: 8, author: "ann", ["text": "hi"]), settled: .accepted(1, 1))
        #expect(try bench.count("notes") == 1)
        #expect(try bench.string("SELECT rowid FROM notes") == rowid)
        let row = try #require(try bench.row(.note(1)))
        #expect(row.born == 8)
        #expect(row.updated == 1_008)
        #expect(row.created == 500)
        #expect(try bench.state(.note(1)) == "synced")
        #expect(try bench.database.step(of: .transaction(1)) == .committed(seq: 101, time: 7_000))
        for table in ["outbox", "outbox_record", "base", "parked"] {
            #expect(try bench.count("tidemark_\(table)") == 0)
        }
    }

    @Test func `an echo that arrives before its settlement shows no second row and stays pending`() throws {
        let bench = try bench()
        try bench.write(1, .note(1, ["text": "hi"]))
        try bench.write(2, .set(.note(1), "text", "ho"))
        try bench.page(room, "notes", .note(1, seq: 8, author: "ann", ["text": "hi"]))
        #expect(try bench.count("notes") == 1)
        #expect(try bench.fields(.note(1))?["text"] == "ho")
        #expect(try bench.row(.note(1))?.born == 8)
        #expect(try bench.state(.note(1)) == "pending")
        try bench.apply(.note(1, seq: 9, born: 8, ["text": "ho"]), settled: .outcomes([(1, 1, nil), (2, 2, nil)]))
        #expect(try bench.state(.note(1)) == "synced")
        #expect(try bench.row(.note(1))?.seq == 9)
    }

    @Test func `another device's change is applied under pending writes`() throws {
        let bench = try bench()
        try bench.apply(.note(1, seq: 5, ["text": "a", "likes": 1]))
        try bench.write(1, .update(.note(1), [NamedPatch("likes", .increment(10))]))
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 6, born: 5, ["text": "b", "likes": 2]))
        #expect(try bench.fields(.note(1)) == Fields(dictionaryLiteral: ("text", "b"), ("likes", 12)).inRoom(1))
        #expect(try bench.state(.note(1)) == "pending")
        try bench.apply(
            from: "c2", to: "c3", .note(1, seq: 7, born: 5, ["text": "b", "likes": 12]), settled: .accepted(1, 1))
        #expect(try bench.fields(.note(1))?["likes"] == 12)
        #expect(try bench.state(.note(1)) == "synced")
    }

    @Test func `a patch that no longer applies is left for the server to judge`() throws {
        let bench = try bench()
        try bench.apply(.note(1, seq: 5, ["text": "a"]))
        try bench.write(1, .set(.note(1), "text", "mine"))
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 6, born: 5, deleted: true))
        #expect(try bench.row(.note(1)) == nil)
        #expect(try bench.database.pendingCount() == 1)
        try bench.apply(from: "c2", to: "c3", settled: .refused(1, 1, .gone))
        #expect(try bench.count("tidemark_base") == 0)
        #expect(try bench.row(.note(1)) == nil)
        #expect(try bench.database.parked().map(\.rejection.code) == [.gone])
    }

    @Test func `a pending delete hides the row until the server refuses it`() throws {
        let bench = try bench()
        try bench.apply(.note(1, seq: 5, ["text": "a"]))
        let before = try bench.row(.note(1))
        try bench.write(1, .delete(.note(1)))
        #expect(try bench.row(.note(1)) == nil)
        try bench.apply(from: "c1", to: "c2", settled: .refused(1, 1, .forbidden))
        #expect(try bench.row(.note(1)) == before)
        #expect(try bench.state(.note(1)) == "failed")
    }

    @Test func `a number that is settled without its outcome was answered to another file`() throws {
        let bench = try bench()
        try bench.write(1, .note(1))
        let error = #expect(throws: StoreError.self) {
            try bench.apply(.note(1, seq: 8), settled: Settled(through: 1, outcomes: []))
        }
        #expect(error?.code == .clientForked)
        #expect(try bench.database.step(of: .transaction(1)) == .queued)
    }
}
