import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// The time at which the segments of a full-text index are merged: not during a write.
@Suite(.timeLimit(.minutes(5))) struct SearchUpkeepTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func bench(rest: Duration) throws -> Bench {
        var limits = LocalLimits()
        limits.searchRest = rest
        let text = TestSchema.text.replacing(
            #""text": {"type": "string", "max": 100}"#, with: #""text": {"type": "string", "search": true}"#)
        return Bench(
            database: try LocalDatabase.open(
                path: folder.path("x.sqlite"), account: Bench.user, schema: try TestSchema.schema(text),
                newClient: Bench.client, limits: limits))
    }

    /// Receives messages in frames that are each too small to cause a merge.
    private func receive(_ frames: Range<Int>, _ bench: Bench) throws {
        if frames.lowerBound == 0 { try bench.join(RecordKey.room(1).scope) }
        for frame in frames {
            let changes = (frame * 40..<frame * 40 + 40).map { change($0) }
            try bench.database.apply(.make(from: "c\(frame)", to: "c\(frame + 1)", changes), now: 9_000)
        }
    }

    private func change(_ number: Int) -> Change {
        let rare = (0..<15).map { "\((number * 15 + $0) &* 2_654_435_761 % 1_000_003)x" }.joined(separator: " ")
        return .note(UInt64(number), seq: SequenceNumber(number + 1), ["text": .string("word \(rare)")])
    }

    private func isMerged(_ bench: Bench) throws -> Bool {
        let index = SearchIndex(try bench.database.table("notes").collection)
        return try bench.database.writer.write { db in try !index.merge(pages: 1, db) }
    }

    private func found(_ bench: Bench) async throws -> Int { try await bench.found("word", in: "notes") }

    @Test func `received rows are merged as soon as no write is running`() async throws {
        let bench = try bench(rest: .milliseconds(1))
        var frames = 0
        while bench.database.searchUpkeep.steps == 0, !Task.isCancelled {
            try receive(frames..<frames + 1, bench)
            frames += 1
            await Task.yield()
        }
        #expect(try await found(bench) == frames * 40)
    }

    @Test func `without a rest the index stays in segments, and everything is found`() async throws {
        let bench = try bench(rest: .seconds(3_600))
        try receive(0..<60, bench)
        #expect(bench.database.searchUpkeep.steps == 0)
        #expect(try !isMerged(bench))
        #expect(try await found(bench) == 2_400)
    }

    @Test func `unmerged segments are merged after the file is opened again`() async throws {
        let first = try bench(rest: .seconds(3_600))
        try receive(0..<60, first)
        try first.database.close()
        let again = try bench(rest: .milliseconds(1))
        let upkeep = again.database.searchUpkeep
        try await eventually { upkeep.steps != 0 && upkeep.isIdle }
        #expect(upkeep.steps > 1, "in small steps")
        #expect(try isMerged(again))
        #expect(try await found(again) == 2_400)
    }

    @Test func `a large frame merges its own rows`() async throws {
        let bench = try bench(rest: .seconds(3_600))
        try receive(0..<60, bench)
        try bench.database.apply(.make(from: "c60", to: "c61", (2_400..<3_400).map { change($0) }), now: 9_000)
        #expect(try isMerged(bench))
        #expect(try await found(bench) == 3_400)
    }

    @Test func `an index of an earlier version is no longer merged by writes`() throws {
        let setting = "SELECT v FROM \"tidemark_search(notes)_config\" WHERE k = 'automerge'"
        let first = try bench(rest: .zero)
        #expect(try first.string(setting) == "0")
        try first.database.writer.write { db in
            try db.execute(
                sql: SearchTests.command("(\(SearchTests.index), rank) VALUES ('automerge', 4)"))
        }
        try first.database.close()
        #expect(try bench(rest: .zero).string(setting) == "0")
    }
}
