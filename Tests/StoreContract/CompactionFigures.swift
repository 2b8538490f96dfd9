import Foundation
import GRDB
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkStore

@testable import TidemarkEmbeddedStore

/// The space that compaction returns, and its cost for concurrent writers. `COMPACTION_FIGURES=200000` makes so many
/// records, of which every second is deleted.
@Suite struct CompactionFigures {
    private static let count = ProcessInfo.processInfo.environment["COMPACTION_FIGURES"].flatMap { Int64($0) }
    private static let bodyBytes = 200
    private static let body = #"{"text":""# + String(repeating: "m", count: bodyBytes - 11) + #""}"#

    @Test(.enabled(if: count != nil))
    func `an SQLite file`() async throws {
        let file = TemporaryFile()
        let store = try EmbeddedStore(path: file.path)
        try await measure(StoreUnderTest(store: store), store) {
            _ = try await store.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            return try #require(try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int)
        }
        try store.close()
        try file.remove()
    }

    @Test(.enabled(if: count != nil && TestSchema.isGiven))
    func `a PostgreSQL database`() async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let sizes =
                "SELECT sum(pg_total_relation_size(oid))::text FROM pg_class WHERE relkind = 'r' AND relname IN"
                + " ('sync_record', 'sync_batch') AND relnamespace = current_schema()::regnamespace"
            try await measure(StoreUnderTest(store: running.store), running.store) {
                try await schema.sql("VACUUM sync_record", "VACUUM sync_batch")
                return Int(try await schema.sql(sizes).first ?? "") ?? 0
            }
            try await schema.sql("VACUUM FULL sync_record", "VACUUM FULL sync_batch")
            print("after VACUUM FULL: \(try await schema.sql(sizes).first ?? "") bytes")
            try await running.end()
        }
    }

    private func measure(
        _ under: StoreUnderTest, _ store: any Compacting, bytes: () async throws -> Int
    ) async throws {
        let count = try #require(Self.count)
        for first in stride(from: 0, to: count, by: 500) {
            try await under.commit(time: 1) { draft in
                for number in first..<first + 500 {
                    draft.put(.numbered(number), in: Self.scope(number), body: Self.body)
                }
            }
        }
        let full = try await bytes()
        for first in stride(from: 0, to: count, by: 500) {
            try await under.commit(time: 2) { draft in
                for number in first..<first + 500 where number % 2 == 0 {
                    draft.put(.numbered(number), in: Self.scope(number), born: number + 1, body: nil)
                }
            }
        }
        let before = try await bytes()
        let quiet = try await write(under, for: .seconds(8)) {}
        let clock = ContinuousClock()
        let order = CompactionOrder(time: 3, scopeCollections: [])
        var steps: [Duration] = []
        var all = CompactionStep(horizon: 0, isDone: false)
        let start = clock.now
        let busy = try await write(under, for: .seconds(8)) {
            while !all.isDone {
                let begun = clock.now
                all = all + (try await store.compact(under.workspace, order))
                steps.append(clock.now - begun)
                // With the server's pause.
                try await clock.sleep(for: max(.milliseconds(50), (clock.now - begun) * 4))
            }
        }
        let took = clock.now - start
        while try await store.giveBack(pages: 256) > 0 {}
        let after = try await bytes()
        #expect(all.tombstones == Int(count / 2))
        let living = Int(count / 2)
        print(
            """
            \(count) records of \(Self.bodyBytes) bytes, every second deleted
            bytes with all alive \(full), \(full / Int(count)) a record
            bytes before \(before), \(before / living) a living record
            bytes after  \(after), \(after / living) a living record
            compaction: \(steps.count) steps in \(took), median \(steps.sorted()[steps.count / 2]), longest \(steps.max() ?? .zero)
            one writer: \(Self.line(quiet)) quiet
            one writer: \(Self.line(busy)) beside compaction
            """)
    }

    private static func scope(_ number: Int64) -> ScopeID { ScopeID("scope \(number % 100)") }

    private static func line(_ times: [Duration]) -> String {
        let sorted = times.sorted()
        return "\(times.count) commits, p50 \(sorted[sorted.count / 2]), p99 \(sorted[sorted.count * 99 / 100])"
    }

    /// Changes one living record in each commit while `body` runs, and at least for `length`; returns the time of each
    /// commit.
    private func write(
        _ under: StoreUnderTest, for length: Duration, beside body: () async throws -> Void
    ) async throws -> [Duration] {
        let count = try #require(Self.count)
        let clock = ContinuousClock()
        let end = clock.now + length
        let isOver = Flag()
        let writer = Task {
            var times: [Duration] = []
            var number: Int64 = 1
            while clock.now < end || !isOver.isSet {
                let begun = clock.now
                try await under.commit(time: 3) { [number] draft in
                    draft.put(.numbered(number), in: Self.scope(number), born: number + 1, body: Self.body)
                }
                times.append(clock.now - begun)
                number = (number + 2) % count
            }
            return times
        }
        try await body()
        isOver.set()
        return try await writer.value
    }
}

/// A flag for any thread.
private final class Flag: Sendable {
    private let state = Lock(false)

    var isSet: Bool { state.current }

    func set() { state.set(true) }
}
