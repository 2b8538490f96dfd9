import GRDB
import Testing
import TidemarkModel

@testable import Tidemark

/// Many mutations in one transaction, whose rows are written together.
@Suite struct DraftRowsTests {
    /// Mutations that all apply, of few records: each record is met again before and after it is written.
    private func course(_ seed: UInt64, _ count: Int) -> [Mutation] {
        var dice = SplitMix(seed: seed)
        var live: Set<UInt64> = []
        var known: Set<UInt64> = []
        return [.room()]
            + (1..<count).map { step in
                let number = dice.below(40)
                let text = FieldValue.string("text \(step)")
                if live.contains(number) {
                    guard dice.chance(20) else { return .set(.note(number), "text", text) }
                    live.remove(number)
                    return .delete(.note(number))
                }
                live.insert(number)
                guard known.insert(number).inserted else {
                    return .undelete(.note(number), (["text": text] as Fields).inRoom(1))
                }
                return .note(number, ["text": text])
            }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `one transaction has the same result as many transactions`(seed: UInt64) throws {
        var limits = LocalLimits()
        limits.model.mutationsMax = 1_000
        let one = Bench(
            database: try LocalDatabase.inMemory(
                account: Bench.user, schema: try TestSchema.schema(TestSchema.text), newClient: Bench.client,
                limits: limits))
        let many = try Bench()
        let mutations = course(seed, 200)
        try one.database.change { db in
            var draft = try WriteDraft(one.database, db, time: 1)
            for mutation in mutations {
                try draft.stage(mutation)
                let shown = try draft.visible(mutation.key)
                #expect((shown == nil) == { if case .delete = mutation.action { true } else { false } }())
            }
            _ = try draft.enqueue(.transaction(1))
        }
        for (index, mutation) in mutations.enumerated() { try many.write(UInt64(index) + 1, mutation) }
        for number in 0..<40 as Range<UInt64> { #expect(try one.fields(.note(number)) == many.fields(.note(number))) }
        for table in ["rooms", "notes"] { #expect(try one.count(table) == many.count(table), "\(table)") }
        #expect(try one.count("tidemark_outbox_record") == Set(mutations.map(\.key)).count)
    }

    @Test func `rows written together and one by one do not affect each other's statements`() throws {
        let bench = try Bench()
        let bases = (1...3 as ClosedRange<UInt64>).map { number in
            LocalRecord(absent: .note(number), scope: RecordKey.room(1).scope, author: Bench.user, created: 1)
        }
        try bench.database.change { db in
            let many = ManyRows(db, columns: 10, RecordTable.saveBasesSQL)
            try many.add(RecordTable.values(base: bases[0]))
            try many.flush()
            try RecordTable(db, bench.database).saveBase(bases[1])
            try many.add(RecordTable.values(base: bases[2]))
            try many.flush()
        }
        #expect(try bench.count("tidemark_base") == 3)
    }

    @Test func `each of many rows has its own texts, also empty and long ones`() throws {
        let bench = try Bench()
        // As many as each size of statement writes, of all lengths.
        let count = UInt64(ManyRows.sizes.reduce(0, +))
        let bases = (0..<count).map { number in
            LocalRecord(
                absent: .note(number), scope: RecordKey.room(1).scope,
                author: UserID(String(repeating: "ä", count: Int(number))), created: 1)
        }
        try bench.database.change { db in
            let many = ManyRows(db, columns: 10, RecordTable.saveBasesSQL)
            for base in bases { try many.add(RecordTable.values(base: base)) }
            try many.flush()
        }
        try bench.database.writer.read { db in
            let records = RecordTable(db, bench.database)
            let read = try bases.map { try records.base($0.key) }
            #expect(read == bases)
        }
    }

    @Test func `a transaction that was sent is not read again, and one that was rewritten is`() throws {
        let bench = try Bench()
        try bench.write(1, .room())
        _ = try bench.database.nextPush(after: 0, maxTransactions: 1, maxBytes: .max)
        let entry = try #require(
            try bench.database.writer.read { db in try OutboxTable(db: db).entries().first })
        var broken = entry
        broken.body = "not what was written"
        #expect(throws: StoreError.self) { try bench.database.memo.transaction(of: broken) }
        #expect(bench.database.memo.holds(entry))
        #expect(try bench.database.memo.transaction(of: entry) == entry.transaction())
        bench.database.memo.forget(entry.id)
        #expect(!bench.database.memo.holds(entry))
        #expect(try bench.database.memo.transaction(of: entry) == entry.transaction())
    }
}
