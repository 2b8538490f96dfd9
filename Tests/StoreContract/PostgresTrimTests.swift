import Testing
import TidemarkModel
import TidemarkPostgresStore
import TidemarkStore

@Suite(.enabled(if: TestSchema.isGiven), .timeLimit(.minutes(5)))
struct PostgresTrimTests {
    @Test func `old bodies are deleted in small steps and their batches stay`() async throws {
        try await TestSchema.with { schema in
            var options = TestSchema.options
            options.bodyLifetime = 1_000
            options.trimBatchesMax = 3
            options.limits.followLifetime = 1_000_000
            let running = try await RunningPostgresStore(schema, node: 1, options: options)
            let under = StoreUnderTest(store: running.store)
            let other = WorkspaceID(under.workspace.text + " 2")
            for workspace in [under.workspace, other] {
                _ = try await under.store.follow(workspace, node: 2, now: 10_000)
                for time: Int64 in [10_000, 10_500, 11_000] {
                    try await under.commit(in: workspace, time: time) { $0.put(.numbered(time)) }
                }
            }
            func bodies() async throws -> [Bool] {
                var kept: [Bool] = []
                for workspace in [under.workspace, other] {
                    kept += try await under.store.tail(after: 0, limit: 9, in: workspace).batches.map {
                        $0.batch != nil
                    }
                }
                return kept
            }
            #expect(try await running.store.trim(now: 11_000) == 0)
            #expect(try await running.store.trim(now: 11_501) == 3, "no more than the limit of one call")
            #expect(try await bodies().count { $0 } == 3)
            #expect(try await running.store.trim(now: 11_501) == 1)
            #expect(try await bodies() == [false, false, true, false, false, true])
            #expect(try await under.store.batch(holding: 1, in: other) != nil)
            try await running.end()
        }
    }

    @Test func `lapsed listeners are forgotten everywhere`() async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let (store, workspaces) = (running.store, ["a", "b"].map { WorkspaceID($0) })
            for (workspace, seen) in zip(workspaces, [1_000, 50_000] as [Int64]) {
                _ = try await store.follow(workspace, node: .max, now: seen)
            }
            try await store.trim(now: 61_000)
            #expect(try await schema.sql("SELECT workspace FROM sync_listener") == ["b"])
            try await running.end()
        }
    }

    @Test func `data that only a fast clock thinks old is kept`() async throws {
        try await TestSchema.with { schema in
            var options = TestSchema.options
            options.limits.logLifetime = 30 * 86_400_000
            options.limits.ledgerLifetime = 30 * 86_400_000
            let running = try await RunningPostgresStore(schema, node: 1, options: options)
            let under = StoreUnderTest(store: running.store)
            try await under.commit(time: 1_000) { draft in
                let seq = draft.put(.numbered(1))
                draft.tamper { batch in
                    batch.ledger = [
                        LedgerEntry(
                            key: RecordKey(collection: "message", id: .numbered(1)), scope: .a, seq: seq,
                            value: OverwrittenValue(field: "text", rule: .lww, old: 1, new: 2), oldAuthor: nil,
                            author: .ann, client: .numbered(8), app: nil, time: 1_000)
                    ]
                }
            }
            let left = """
                SELECT (SELECT count(*) FROM sync_ledger) || ' ' || (SELECT count(body) FROM sync_batch)
                """
            #expect(try await running.store.trim(now: 120 * 86_400_000) == 0)
            #expect(try await schema.sql(left) == ["1 1"])
            // Once compaction has got there, they are deleted.
            let isTurn = try await running.store.beginCompaction(
                of: under.workspace, before: .max, now: 120 * 86_400_000)
            #expect(isTurn)
            #expect(try await running.store.trim(now: 120 * 86_400_000) == 1)
            #expect(try await schema.sql(left) == ["0 0"])
            try await running.end()
        }
    }

    @Test func `expired ledger entries are deleted in small steps`() async throws {
        try await TestSchema.with { schema in
            var options = TestSchema.options
            options.limits.ledgerLifetime = 1_000
            options.trimBatchesMax = 2
            let running = try await RunningPostgresStore(schema, node: 1, options: options)
            let under = StoreUnderTest(store: running.store)
            for time: Int64 in [1_000, 1_100, 1_200, 5_000] {
                try await under.commit(time: time) { draft in
                    let seq = draft.put(.numbered(time))
                    draft.tamper { batch in
                        batch.ledger = [
                            LedgerEntry(
                                key: RecordKey(collection: "message", id: .numbered(time)), scope: .a, seq: seq,
                                value: OverwrittenValue(field: "text", rule: .lww, old: 1, new: 2), oldAuthor: nil,
                                author: .ann, client: .numbered(8), app: nil, time: time)
                        ]
                    }
                }
            }
            let times = "SELECT time::text FROM sync_ledger ORDER BY time"
            try await running.store.trim(now: 3_000)
            #expect(try await schema.sql(times) == ["1200", "5000"])
            try await running.store.trim(now: 3_000)
            #expect(try await schema.sql(times) == ["5000"])
            try await running.end()
        }
    }
}
