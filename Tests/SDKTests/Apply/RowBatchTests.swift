import GRDB
import GRDBSQLite
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Rows that are written many at a time.
@Suite struct RowBatchTests {
    private let room = RecordKey.room(1).scope

    private func bench(_ schema: String = TestSchema.text) throws -> Bench {
        let bench = try Bench(schema)
        try bench.join(room)
        return bench
    }

    /// Creations, edits and deletions of a few records, old and new ones in any order.
    private func changes(_ count: Int, _ dice: inout SplitMix) -> [Change] {
        (0..<count).map { index in
            var fields: Fields = ["text": .string("v\(index)"), "likes": .integer(Int64(index))]
            if dice.chance(20) { fields["unknown"] = .string("kept \(index)") }
            if dice.chance(20) { fields["best"] = .double(Double(index) / 3) }
            return .note(
                dice.below(90), seq: SequenceNumber(dice.below(500) + 1), born: 1, deleted: dice.chance(15), fields)
        }
    }

    @Test(arguments: [1, 7, 8, 9, 64, 65, 200], 1...4)
    func `a frame of any size has the same result as its changes one by one`(size: Int, seed: UInt64) throws {
        var dice = SplitMix(seed: seed &* 1_000 &+ UInt64(size))
        let (whole, single) = (try bench(), try bench())
        for frame in 0..<3 {
            let changes = changes(size, &dice)
            try whole.database.apply(.make(from: "c\(frame)", to: "c\(frame + 1)", changes), now: 9_000)
            for (index, change) in changes.enumerated() {
                let from = index == 0 ? "c\(frame)" : "c\(frame).\(index)"
                let to = index == size - 1 ? "c\(frame + 1)" : "c\(frame).\(index + 1)"
                try single.apply(from: from, to: to, change)
            }
        }
        #expect(try whole.dump() == single.dump())
        let order = "SELECT group_concat(local_id) FROM (SELECT local_id FROM notes ORDER BY rowid)"
        #expect(try whole.string(order) == single.string(order), "in the order in which they came")
    }

    @Test func `a collection may have as many fields as a schema allows`() throws {
        let fields = (1...244).map { "\"f\($0)\": \"integer\"" }.joined(separator: ", ")
        let bench = try bench(
            TestSchema.text.replacing(#""file": "blob"}"#, with: "\"file\": \"blob\", \(fields)}"))
        #expect(bench.database.schema.collection("notes")?.fields.count == 256)
        let changes = (1...100).map { Change.note(UInt64($0), seq: SequenceNumber($0), ["f244": 7]) }
        try bench.database.apply(.make(from: "c0", to: "c1", changes), now: 9_000)
        #expect(try bench.string("SELECT sum(f244) FROM notes") == "700")
    }

    @Test func `a connection keeps no values of a frame in its statements`() throws {
        let bench = try bench()
        try bench.apply(.note(1, seq: 1, ["text": "large"]))
        let sql = try #require(try bench.database.table("notes").applySQL.last).sql
        let bound = try bench.database.writer.write { db in
            let text = sqlite3_expanded_sql(try db.cachedStatement(sql: sql).sqliteStatement)
            defer { sqlite3_free(text) }
            return String(cString: try #require(text))
        }
        #expect(bound.contains("NULL"))
        #expect(!bound.contains("large"))
    }

    @Test func `a search finds the values of a frame, and not those that it replaced`() async throws {
        let bench = try bench(
            TestSchema.text.replacing(
                #""text": {"type": "string", "max": 100}"#, with: #""text": {"type": "string", "search": true}"#))
        for (frame, word) in ["before", "after"].enumerated() {
            let changes = (0..<150).map { number in
                Change.note(
                    UInt64(number), seq: SequenceNumber(frame * 1_000 + number + 1), born: 1, ["text": .string(word)])
            }
            try bench.database.apply(.make(from: "c\(frame)", to: "c\(frame + 1)", changes), now: 9_000)
        }
        #expect(try await bench.found("after", in: "notes") == 150)
        #expect(try await bench.found("before", in: "notes") == 0)
    }
}
