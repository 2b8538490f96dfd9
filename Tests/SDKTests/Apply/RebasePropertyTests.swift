import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// I-20: after every transaction each visible row is the newest received state with the unsettled writes applied, in
/// the order of their numbers. In the end it is the server's.
@Suite struct RebasePropertyTests {
    /// The test's own state, kept without reading the database.
    private struct Oracle {
        var arrived: [RecordKey: LocalRecord] = [:]
        var pending: [(number: Int64, mutations: [Mutation])] = []

        mutating func take(_ changes: [Change]) {
            for change in changes where change.seq > arrived[change.key]?.seq ?? 0 {
                arrived[change.key] = LocalRecord(change)
            }
        }

        func visible(_ key: RecordKey, _ schema: Schema) -> Fields? {
            guard let collection = schema.collection(key.collection) else { return nil }
            var record =
                arrived[key] ?? LocalRecord(absent: key, scope: RecordKey.room(1).scope, author: Bench.user, created: 0)
            for mutation in pending.flatMap(\.mutations) where mutation.key == key {
                var next = record
                do { try next.apply(mutation, in: collection) } catch { continue }
                record = next
            }
            return record.existence == .live ? record.fields : nil
        }
    }

    @Test(arguments: 1...10)
    func `visible rows are the base with pending writes applied, whatever the interleaving`(seed: UInt64) throws {
        var dice = SplitMix(seed: seed)
        let bench = try Bench()
        var server = try ModelServer()
        var oracle = Oracle()
        var cursor: SequenceNumber = 0
        var id: UInt64 = 0
        /// Answers that were sent; each may arrive now, and again.
        var pages: [PageAnswer] = []
        _ = try bench.database.beginConnection()
        try bench.database.welcomed(
            .make(cursor: "s0", added: [.init(scope: server.room, since: 1, role: .member)]))

        func deliver() throws {
            let frame = server.frame(from: cursor)
            try bench.database.apply(frame, now: 0)
            cursor = server.head
            oracle.take(frame.groups.flatMap(\.changes))
            oracle.pending.removeAll { $0.number <= frame.settled?.through ?? 0 }
        }

        for _ in 0..<120 {
            switch dice.below(10) {
            case 0, 1, 2, 3:
                let mutations = (0...dice.below(2)).map { _ in Mutation.random(&dice) }
                id += 1
                let transaction = Transaction(id: .transaction(id), mutations: mutations, clientTime: 0)
                do {
                    oracle.pending.append((try bench.database.write(transaction), mutations))
                } catch is StoreError {
                    // It did not apply to the visible record: nothing may have changed, which the check below verifies.
                }
            case 4, 5:
                let push = try bench.database.nextPush(
                    after: server.settledThrough, maxTransactions: Int(dice.below(3)) + 1, maxBytes: 99_999)
                try server.settle(push) { _ in dice.chance(20) }
            case 6, 7:
                _ = server.accept([.random(&dice)], from: "bob")
            case 8:
                let page = server.page(before: dice.chance(50) ? nil : Int64(dice.below(40)), limit: 3)
                // The last page would end the filling, and with it the test of pages.
                guard page.next != nil else { break }
                pages.append(page)
                guard let late = pages.randomElement(using: &dice) else { break }
                try bench.database.apply(late)
                oracle.take(late.changes)
            default: try deliver()
            }
            for key in (0..<6).map({ RecordKey.note($0) }) {
                #expect(try bench.fields(key) == oracle.visible(key, server.schema), "seed \(seed)")
            }
            #expect(try bench.database.pendingCount() == oracle.pending.count)
        }

        let rest = try bench.database.nextPush(after: server.settledThrough, maxTransactions: 999, maxBytes: 999_999)
        try server.settle(rest) { _ in false }
        try deliver()
        for key in (0..<6).map({ RecordKey.note($0) }) {
            let record = server.records[key]
            #expect(try bench.fields(key) == (record?.existence == .live ? record?.fields : nil), "seed \(seed)")
        }
        for table in ["outbox", "outbox_record", "base"] { #expect(try bench.count("tidemark_\(table)") == 0) }
        #expect(try bench.database.parked().count + committed(bench) == Int(try bench.count("tidemark_receipt")))
    }

    /// I-19: every transaction that was written is parked or committed in the end.
    private func committed(_ bench: Bench) throws -> Int {
        try Int(bench.string("SELECT count(*) FROM tidemark_receipt WHERE state = 'committed'") ?? "") ?? -1
    }
}
