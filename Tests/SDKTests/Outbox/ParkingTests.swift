import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct ParkingTests {
    private let room = RecordKey.room(1).scope

    private func bench() throws -> Bench {
        let bench = try Bench()
        try bench.join(room)
        return bench
    }

    @Test func `a refused create disappears and is parked with its payload`() throws {
        let bench = try bench()
        try bench.write(1, .note(1, ["text": "mine"]))
        try bench.apply(settled: .refused(1, 1, .forbidden))
        #expect(try bench.row(.note(1)) == nil)
        #expect(try bench.count("tidemark_base") == 0)
        #expect(try bench.database.pendingCount() == 0)
        let parked = try #require(try bench.database.parked().first)
        #expect(parked.transaction.mutations == [.note(1, ["text": "mine"])])
        #expect(parked.rejection == Rejection(.forbidden, "because"))
        #expect(parked.parked == 9_000)
        #expect(try bench.database.step(of: .transaction(1)) == .rejected(Rejection(.forbidden, "because")))
    }

    @Test func `a refused update shows the server's state again, marked as failed`() throws {
        let bench = try bench()
        try bench.apply(.note(1, seq: 5, ["text": "a"]))
        let before = try bench.row(.note(1))
        try bench.write(1, .set(.note(1), "text", "mine"))
        try bench.write(2, .set(.note(1), "done", true))
        try bench.apply(from: "c1", to: "c2", settled: .refused(1, 1, .forbidden))
        #expect(try bench.fields(.note(1)) == Fields(dictionaryLiteral: ("text", "a"), ("done", true)).inRoom(1))
        #expect(try bench.state(.note(1)) == "pending")
        try bench.apply(from: "c2", to: "c3", settled: .refused(2, 2, .invalid))
        #expect(try bench.row(.note(1)) == before)
        #expect(try bench.state(.note(1)) == "failed")
        try bench.apply(from: "c3", to: "c4", .note(1, seq: 6, born: 5, ["text": "b"]))
        #expect(try bench.state(.note(1)) == "synced")
    }

    @Test func `retrying writes the payload again under a new id and number`() throws {
        let bench = try bench()
        try bench.write(1, .note(1, ["text": "mine"]))
        try bench.apply(settled: .refused(1, 1, .quota))
        #expect(try bench.database.retryParked(.transaction(1), newID: .transaction(2)) == .transaction(2))
        #expect(try bench.database.parked().isEmpty)
        #expect(try bench.fields(.note(1))?["text"] == "mine")
        #expect(try bench.state(.note(1)) == "pending")
        #expect(try bench.database.nextPush(after: 1, maxTransactions: 9, maxBytes: 9_999).map(\.number) == [2])
        #expect(try bench.database.step(of: .transaction(1)) == .rejected(Rejection(.quota, "because")))
    }

    @Test func `a write that cannot be retried stays parked and gives the reason`() throws {
        let bench = try bench()
        try bench.apply(.note(1, seq: 5, ["text": "a"]))
        try bench.write(1, .set(.note(1), "text", "mine"))
        try bench.apply(
            from: "c1", to: "c2", .note(1, seq: 6, born: 5, deleted: true), settled: .refused(1, 1, .gone))
        let error = #expect(throws: StoreError.self) {
            try bench.database.retryParked(.transaction(1), newID: .transaction(2))
        }
        #expect(error?.code == .rejected(.gone))
        #expect(try bench.database.parked().count == 1)
    }

    @Test func `discarding deletes the payload and the mark`() throws {
        let bench = try bench()
        try bench.apply(.note(1, seq: 5, ["text": "a"]))
        try bench.write(1, .set(.note(1), "text", "mine"))
        try bench.apply(from: "c1", to: "c2", settled: .refused(1, 1, .forbidden))
        try bench.database.discardParked(.transaction(1))
        #expect(try bench.database.parked().isEmpty)
        #expect(try bench.state(.note(1)) == "synced")
        let error = #expect(throws: StoreError.self) { try bench.database.discardParked(.transaction(1)) }
        #expect(error?.code == .notFound)
    }

    @Test func `the rest of a transaction is refused with its refused part`() throws {
        let bench = try bench()
        try bench.apply(.note(1, seq: 5, ["text": "a"]))
        try bench.write(1, .set(.note(1), "text", "b"), .note(2), .delete(.note(1)))
        try bench.write(2, .note(3))
        try bench.apply(
            from: "c1", to: "c2", .note(3, seq: 8), settled: .outcomes([(1, 1, .forbidden), (2, 2, nil)]))
        #expect(try bench.fields(.note(1))?["text"] == "a")
        #expect(try bench.row(.note(2)) == nil)
        #expect(try bench.state(.note(3)) == "synced")
        #expect(try bench.database.parked().first?.transaction.mutations.count == 3)
    }
}
