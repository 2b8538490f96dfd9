import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct SalvageTests {
    private let file: FileDamage

    init() throws { file = try FileDamage() }

    private func recovery(_ notice: StoreNotice?) throws -> StoreRecovery {
        guard case .recovered(let recovery) = try #require(notice) else { throw CancellationError() }
        return recovery
    }

    @Test func `a damaged page of the outbox costs the transactions on it, and no other`() throws {
        var client: String?
        try file.fill { bench in
            try bench.join(RecordKey.room(1).scope)
            for number in 1...300 {
                try bench.write(UInt64(number), .note(UInt64(number), ["text": .string("n\(number).")]))
            }
            client = try bench.string("SELECT value FROM tidemark_meta WHERE key = 'client'")
        }
        #expect(try file.damage(pagesWith: "\"n150.\"") > 0)
        let (bench, notice) = try file.open()
        let recovery = try recovery(notice)
        #expect(recovery.pending > 250 && recovery.pending < 300)
        #expect(FileManager.default.fileExists(atPath: recovery.damaged.path))
        #expect(try bench.string("SELECT value FROM tidemark_meta WHERE key = 'client'") != client)
        let push = try bench.database.nextPush(after: 0, maxTransactions: 1_000, maxBytes: 1_000_000)
        #expect(push.map(\.number) == (1...Int64(recovery.pending)).map { $0 })
        let ids = push.compactMap(\.entry.id)
        #expect(ids == ids.sorted() && ids.first == .transaction(1) && ids.last == .transaction(300))
        #expect(try bench.count("notes") == recovery.pending)
        #expect(try bench.state(.note(300)) == "pending")
        #expect(try bench.fields(.note(300))?["text"] == "n300.")
        // Opened again, it is an ordinary database.
        try bench.database.close()
        let (again, silence) = try file.open()
        #expect(silence == nil)
        #expect(try again.count("notes") == recovery.pending)
    }

    @Test func `damage among the records leaves all pending writes, and the rest is fetched from the server`() throws {
        try file.fill { bench in
            try bench.join(RecordKey.room(1).scope)
            let rows = (1...200).map { Change.note(UInt64($0), seq: Int64($0), ["text": .string("synced \($0)!")]) }
            try bench.database.apply(.make(from: "c0", to: "c1", rows), now: 1)
            try bench.write(1, .set(.note(7), "text", "mine"))
            try bench.write(2, .note(900, ["text": "new"]))
        }
        #expect(try file.damage(pagesWith: "synced 100!") > 0)
        let (bench, notice) = try file.open()
        #expect(try recovery(notice).pending == 2)
        #expect(try recovery(notice).unreadable == 0)
        #expect(try bench.fields(.note(7))?["text"] == "mine")
        #expect(try bench.fields(.note(900))?["text"] == "new")
        #expect(try bench.string("SELECT value FROM tidemark_meta WHERE key = 'cursor'") == nil)
        try bench.join(RecordKey.room(1).scope)
        // The server may have been set back meanwhile: its records are accepted, also with an older number.
        try bench.page(
            RecordKey.room(1).scope, "notes", .note(7, seq: 5, ["text": "theirs", "done": true]), .note(8, seq: 8))
        #expect(try bench.fields(.note(7))?["text"] == "mine")
        #expect(try bench.fields(.note(7))?["done"] == true)
        try bench.apply(.note(7, seq: 400, ["text": "mine"]), settled: .accepted(1, 1))
        #expect(try bench.state(.note(7)) == "synced")
    }

    @Test func `increments that may have arrived are parked, and parked writes stay parked`() throws {
        try file.fill { bench in
            try bench.join(RecordKey.room(1).scope)
            try bench.apply(.note(1, seq: 5, ["likes": 1]), .note(2, seq: 6, ["text": "seen and damaged"]))
            try bench.write(9, .note(9, ["text": "refused"]))
            try bench.apply(from: "c1", to: "c2", settled: .refused(1, 9, .forbidden))
            try bench.write(1, .update(.note(1), [NamedPatch("likes", .increment(1))]))
            _ = try bench.database.nextPush(after: 1, maxTransactions: 9, maxBytes: 9_999)
            try bench.write(2, .update(.note(1), [NamedPatch("likes", .increment(10))]))
            try bench.write(3, .note(3, ["text": "sent"]))
            _ = try bench.database.nextPush(after: 3, maxTransactions: 9, maxBytes: 9_999)
        }
        #expect(try file.damage(pagesWith: "seen and damaged") > 0)
        let (bench, notice) = try file.open()
        let recovery = try recovery(notice)
        #expect(recovery.pending == 2 && recovery.rejected == 2)
        let parked = try bench.database.parked().sorted { $0.transaction.id < $1.transaction.id }
        #expect(parked.map(\.transaction.id) == [.transaction(1), .transaction(9)])
        #expect(parked.map(\.rejection.code) == [.conflict, .forbidden])
        #expect(parked.last?.transaction.mutations.map(\.key) == [.note(9)])
        guard case .rejected? = try bench.database.step(of: .transaction(9)) else {
            Issue.record("the receipt of what was refused is gone")
            return
        }
        #expect(try bench.database.step(of: .transaction(2)) == .queued)
        #expect(try bench.fields(.note(1))?["likes"] == 11)
    }

    @Test func `a file that is no longer a database is set aside`() throws {
        try file.fill { try $0.write(1, .note(1)) }
        try file.overwriteHeader()
        let (bench, notice) = try file.open()
        #expect(try recovery(notice).pending == 1)
        #expect(try bench.write(2, .note(2)) == 2)
    }

    @Test func `damage found in use is named, and repaired with the next opening`() throws {
        var limits = LocalLimits()
        limits.checkedBytesMax = 0
        try file.fill { bench in
            for number in 1...200 {
                try bench.write(UInt64(number), .note(UInt64(number), ["text": .string("n\(number).")]))
            }
        }
        #expect(try file.damage(pagesWith: "\"n100.\"") > 0)
        let (bench, notice) = try file.open(limits)
        #expect(notice == nil)
        let error = #expect(throws: StoreError.self) {
            _ = try bench.database.nextPush(after: 0, maxTransactions: 300, maxBytes: 1_000_000)
        }
        #expect(error?.code == .corrupt)
        try bench.database.close()
        #expect(try recovery(file.open(limits).notice).pending > 100)
        #expect(try file.open(limits).notice == nil)
    }

    @Test func `a store reports it`() async throws {
        try file.fill { try $0.write(1, .note(1)) }
        try file.overwriteHeader()
        let schema = try TestSchema.schema()
        let store = try await SyncStore.open(account: Bench.user, at: file.folder.url, schema: schema)
        guard case .recovered = store.notice else { Issue.record("no notice"); return }
    }
}
