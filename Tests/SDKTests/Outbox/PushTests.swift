import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct PushTests {
    private func push(_ bench: Bench, after: Int64 = 0, count: Int = 99, bytes: Int = 99_999) throws -> [Int64] {
        try bench.database.nextPush(after: after, maxTransactions: count, maxBytes: bytes).map(\.number)
    }

    @Test func `transactions are sent in order, bounded by count and bytes`() throws {
        let bench = try Bench()
        for number in 1...4 { try bench.write(UInt64(number), .room(UInt64(number))) }
        #expect(try push(bench, count: 2) == [1, 2])
        #expect(try push(bench, after: 2) == [3, 4])
        #expect(try push(bench, after: 4) == [])
        let bytes = try bench.database.nextPush(after: 0, maxTransactions: 1, maxBytes: 1)
        #expect(bytes.map(\.number) == [1])
        #expect(try push(bench, bytes: bytes[0].bytes * 2) == [1, 2])
    }

    @Test func `the transaction is sent as it was written`() throws {
        let bench = try Bench()
        try bench.write(7, .room(), .note(1, ["text": "é"]), ifSeq: 5)
        let entry = try #require(try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999).first)
        let expected = Transaction(
            id: .transaction(7), mutations: [.room(), .note(1, ["text": "é"])], clientTime: 7, ifSeq: 5)
        #expect(entry.entry == Push.Entry(expected))
    }

    @Test func `reading for a push marks entries as sending, once, and counts the attempts`() throws {
        let bench = try Bench()
        try bench.write(1, .room(1))
        try bench.write(2, .room(2))
        #expect(try push(bench, count: 1) == [1])
        #expect(try push(bench, count: 1) == [1])
        #expect(try bench.database.step(of: .transaction(1)) == .sending)
        #expect(try bench.database.step(of: .transaction(2)) == .queued)
        #expect(
            try bench.string("SELECT group_concat(state || attempts || coalesce(last_error, '-')) FROM tidemark_outbox")
                == "sending2-,queued0-")
        #expect(try bench.database.pendingCount() == 2)
    }

    @Test func `each attempt stores its time, for the record and the diagnostics`() async throws {
        let store = try SyncStore.test()
        let room = Room(people: ["ann"])
        try await store.repository(Room.self).create(room)
        let database = store.database
        func seen() async throws -> Date? {
            try await store.read { try $0.pendingWrites(in: .of(room.id)).values.first?.lastAttempt }
        }
        #expect(try await seen() == nil)
        for now in [5_000, 9_000] as [Milliseconds] {
            #expect(try database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999, now: now).count == 1)
            #expect(try await seen() == Date(timeIntervalSince1970: Double(now) / 1_000))
        }
        #expect(try await store.diagnostics().outbox.map(\.lastAttempt) == [Date(timeIntervalSince1970: 9)])
    }

    @Test func `numbers continue after everything was settled and the file reopened`() throws {
        let folder = try TemporaryFolder()
        let first = try Bench(path: folder.path("a"))
        try first.join()
        try first.write(1, .room(1))
        try first.apply(settled: .accepted(1, 1))
        try first.database.close()
        let second = try Bench(path: folder.path("a"))
        #expect(try second.write(2, .room(2)) == 2)
        #expect(try second.database.step(of: .transaction(1)) == .committed(seq: 101, time: 7_000))
        #expect(try second.database.beginConnection().ackedThrough == 1)
    }

    @Test func `transactions committed before a kill exist after it`() throws {
        let folder = try TemporaryFolder()
        let bench = try Bench(path: folder.path("a"))
        try bench.write(1, .room(1))
        try bench.write(2, .note(1, ["text": "kept"]))
        // A killed process leaves the files that are on disk while the first database is open.
        for suffix in ["", "-wal"] { try folder.copy("a\(suffix)", to: "b\(suffix)") }
        let revived = try Bench(path: folder.path("b"))
        #expect(try revived.fields(.note(1))?["text"] == "kept")
        #expect(try revived.database.pendingCount() == 2)
        #expect(try revived.dump() == bench.dump())
    }
}
