import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// The cursors that a copy remembers.
@Suite struct PastCursorTests {
    private let room = RecordKey.room(1).scope

    private func ends(_ bench: Bench) throws -> [String] { try bench.database.beginConnection().ends }

    private func frame(_ number: Int, isLive: Bool = true, isConsistent: Bool = true) -> Changes {
        var frame = Changes.make(from: "c\(number - 1)", to: "c\(number)", [])
        (frame.isLive, frame.isConsistent) = (isLive, isConsistent)
        return frame
    }

    @Test func `the first are all kept, then one of eight frames, and the end of each catch-up`() throws {
        let bench = try Bench()
        try bench.join(room)
        #expect(try ends(bench).isEmpty)
        for number in 1...24 { try bench.database.apply(frame(number), now: 0) }
        #expect(try ends(bench) == ["c24", "c16"] + (1...8).reversed().map { "c\($0)" })
        try bench.database.apply(frame(25, isLive: false, isConsistent: false), now: 0)
        #expect(try ends(bench).first == "c24", "the copy is no state that the server was in")
        try bench.database.apply(frame(26, isLive: false), now: 0)
        #expect(try ends(bench).first == "c26")
    }

    @Test func `they lie the further apart the further back they are, and there are never more than 24`() throws {
        let bench = try Bench()
        try bench.join(room)
        for number in 1...4_000 { try bench.database.apply(frame(number), now: 0) }
        let numbers = try ends(bench).compactMap { Int($0.dropFirst()) }
        #expect(numbers.count == 24 && numbers.first == 4_000 && numbers.last == 1)
        // Whatever is lost, the copy goes back at most twice as far, plus eight frames.
        for lost in [1, 10, 100, 1_000, 3_000] {
            let common = numbers.first { $0 <= 4_000 - lost } ?? 0
            #expect(4_000 - common <= 2 * lost + 16, "\(lost) lost, back to \(common)")
        }
    }

    @Test func `deletions are remembered up to a bound`() throws {
        let log = { (db: Database) in DeletionLog(db: db, keptMax: 8) }
        let bench = try Bench()
        try bench.database.writer.write { db in
            for number: Int64 in 1...10 {
                try log(db).note(.note(UInt64(number)), scope: room, seq: number)
                try log(db).trim()
            }
            #expect(try log(db).isComplete(after: 0))
            try log(db).note(.note(11), scope: room, seq: 11)
            try log(db).trim()
            #expect(try !log(db).isComplete(after: 2) && log(db).isComplete(after: 3))
            // An older message about a known deletion changes nothing.
            try log(db).note(.note(11), scope: room, seq: 5)
        }
        #expect(try bench.count("tidemark_deletion") == 8)
        #expect(try bench.string("SELECT max(seq) FROM tidemark_deletion") == "11")
    }
}
