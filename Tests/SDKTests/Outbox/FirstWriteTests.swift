import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// A record that is new to the device has a base, but no row for it.
@Suite struct FirstWriteTests {
    private let room = RecordKey.room(1).scope

    private func base(_ bench: Bench, _ key: RecordKey) throws -> LocalRecord? {
        try bench.database.writer.read { try RecordTable($0, bench.database).base(key) }
    }

    @Test func `the base of a new record is absent, in its scope, until it is settled`() throws {
        let bench = try Bench()
        try bench.join(room)
        #expect(try base(bench, .note(1)) == nil)
        try bench.write(5, .note(1, ["text": "a"]))
        let expected = LocalRecord(absent: .note(1), scope: room, author: Bench.user, created: 5)
        #expect(try base(bench, .note(1)) == expected)
        try bench.write(6, .set(.note(1), "text", "b"))
        #expect(try base(bench, .note(1)) == expected)
        #expect(try bench.count("tidemark_base") == 0)
        #expect(try bench.fields(.note(1))?["text"] == "b")
        // The second is based on the server's answer to the first.
        try bench.apply(.note(1, seq: 7, ["text": "a"]), settled: .accepted(1, 5))
        #expect(try base(bench, .note(1))?.fields["text"] == "a")
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 8, born: 7, ["text": "b"]), settled: .accepted(2, 6))
        #expect(try base(bench, .note(1)) == nil)
        #expect(try bench.state(.note(1)) == "synced")
    }

    @Test func `a new record stays visible when its scope is filled anew`() throws {
        let bench = try Bench()
        try bench.join(room)
        try bench.write(1, .note(1))
        try bench.apply(grants: [.init(scope: room, since: 9, role: .member)])
        for collection in ["rooms", "notes"] { #expect(try bench.page(room, since: 9, collection)) }
        #expect(try bench.state(.note(1)) == "pending")
    }

    @Test func `a scope that a restored server has lost is opened again by the write that made it`() throws {
        let bench = try Bench()
        try bench.join(room)
        try bench.write(1, .room(), .note(1))
        var welcome = Welcome.make(state: .resync, cursor: "d0", purged: [room])
        (welcome.epoch, welcome.lost) = (2, 1)
        try bench.database.welcomed(welcome)
        #expect(try bench.state(.room(1)) == "pending")
        #expect(try bench.state(.note(1)) == "pending")
    }

    /// Writes a row for every base, as earlier versions did.
    private func keepBases(_ bench: Bench) throws {
        try bench.database.change { db in
            for row in try db.all("SELECT DISTINCT collection, local_id FROM tidemark_outbox_record") {
                try RecordTable.keepBase(try row.key(0), db)
            }
        }
    }

    /// The whole state of the file, with all bases.
    private func state(_ bench: Bench) throws -> [String] {
        try bench.dump().filter { !$0.hasPrefix("tidemark_base") }
            + (0..<6 as Range<UInt64>).map { "\(try base(bench, .note($0)).map { "\($0)" } ?? "none")" }
    }

    @Test(arguments: 1...6)
    func `nothing depends on whether the base of a new record has a row`(seed: UInt64) throws {
        var dice = SplitMix(seed: seed)
        let benches = [try Bench(), try Bench()]
        var server = try ModelServer()
        var (cursor, id, since) = (SequenceNumber(0), UInt64(0), SequenceNumber(1))
        var writes = 0
        for bench in benches {
            _ = try bench.database.beginConnection()
            try bench.database.welcomed(
                .make(cursor: "s0", added: [.init(scope: server.room, since: since, role: .member)]))
        }
        func deliver() throws {
            let frame = server.frame(from: cursor)
            for bench in benches { try bench.database.apply(frame, now: 0) }
            cursor = server.head
        }
        for _ in 0..<100 {
            switch dice.below(12) {
            case 0, 1, 2, 3:
                id += 1
                let mutations = (0...dice.below(2)).map { _ in Mutation.random(&dice) }
                let transaction = Transaction(id: .transaction(id), mutations: mutations, clientTime: Int64(id))
                let written = benches.map { bench in (try? bench.database.write(transaction)) != nil }
                #expect(written[0] == written[1])
                if written[0] { writes += 1 }
                try keepBases(benches[1])
            case 4, 5:
                let pushes = try benches.map {
                    try $0.database.nextPush(after: server.settledThrough, maxTransactions: 2, maxBytes: 99_999)
                }
                try server.settle(pushes[0]) { _ in dice.chance(30) }
            case 6, 7: _ = server.accept([.random(&dice)], from: "bob")
            case 8:
                guard let parked = try benches[0].database.parked().first?.transaction.id else { break }
                id += 1
                let retried = benches.map { bench in
                    (try? bench.database.retryParked(parked, newID: .transaction(id))) != nil
                }
                #expect(retried[0] == retried[1])
            case 9:
                // Lost, and granted again under another number.
                try deliver()
                since += 1
                let here = "s\(cursor)"
                let lost = dice.chance(50)
                let grants = [Changes.GrantChange(scope: server.room, since: since, role: lost ? nil : .member)]
                for bench in benches {
                    try bench.database.apply(.make(from: here, to: here, [], grants: grants), now: 0)
                    if lost {
                        let again = Changes.GrantChange(scope: server.room, since: since, role: .member)
                        try bench.database.apply(.make(from: here, to: here, [], grants: [again]), now: 0)
                    }
                }
            case 10:
                var page = server.page(before: nil, limit: 99)
                page.since = since
                for bench in benches { _ = try bench.database.apply(page) }
            default: try deliver()
            }
            #expect(try state(benches[0]) == state(benches[1]), "seed \(seed)")
        }
        #expect(writes > 5)
    }
}
