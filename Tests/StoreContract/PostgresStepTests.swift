import Foundation
import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

@Suite(.enabled(if: TestSchema.isGiven), .timeLimit(.minutes(5)))
struct PostgresStepTests {
    /// A store on a schema of its own.
    private func withStore(
        _ options: PostgresStore.Options = TestSchema.options, settings: [String: String] = [:],
        _ body: (StoreUnderTest, TestSchema) async throws -> Void
    ) async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1, options: options, settings: settings)
            do {
                try await body(StoreUnderTest(store: running.store), schema)
            } catch {
                try await running.end()
                throw error
            }
            try await running.end()
        }
    }

    /// Under REPEATABLE READ a step that waited for the lock would read the earlier head (R-02).
    @Test(arguments: [[:], ["default_transaction_isolation": "repeatable read"]])
    func `two nodes on one workspace tile its order, whatever the default isolation`(
        _ settings: [String: String]
    ) async throws {
        try await withStore(settings: settings) { first, schema in
            let other = try await RunningPostgresStore(schema, node: 2, settings: settings)
            let second = StoreUnderTest(store: other.store, workspace: first.workspace)
            let heads = try await withThrowingTaskGroup(of: Head.self) { group in
                for number: Int64 in 0..<120 {
                    let under = number.isMultiple(of: 2) ? first : second
                    group.addTask { try await under.commit { $0.put(.numbered(number)) }.head }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let tail = try await first.store.tail(after: 0, limit: 1_000, in: first.workspace).batches
            #expect(tail.map(\.low) == Array(1...120))
            #expect(tail.map(\.head) == heads.sorted { $0.seq < $1.seq })
            try await other.end()
        }
    }

    @Test func `a body is kept for another node that follows, and not for this one`() async throws {
        try await withStore { under, _ in
            _ = try await under.store.follow(under.workspace, node: 1, now: 1_000)
            try await under.commit { $0.skip() }
            _ = try await under.store.follow(under.workspace, node: 2, now: 1_000)
            let heard = try await under.commit { $0.put(.numbered(1)) }
            let tail = try await under.store.tail(after: 0, limit: 9, in: under.workspace).batches
            #expect(tail.map(\.batch) == [nil, heard])
        }
    }

    @Test func `a node that begins to follow gets the body of the very next batch`() async throws {
        try await withStore { under, _ in
            for _ in 0..<3 { try await under.commit { $0.skip() } }
            _ = try await under.store.follow(under.workspace, node: 2, now: 1_000)
            let heard = try await under.commit { $0.put(.numbered(1)) }
            let tail = try await under.store.tail(after: 3, limit: 9, in: under.workspace).batches
            #expect(tail.map(\.batch) == [heard])
        }
    }

    @Test func `a plan on another node's order, or without its listeners, is not written`() async throws {
        try await withStore { first, schema in
            let other = try await RunningPostgresStore(schema, node: 2)
            let second = StoreUnderTest(store: other.store, workspace: first.workspace)
            let head = try await first.commit { $0.put(.numbered(1)) }.head
            let planned = try first.create(2, after: head)
            let theirs = try await second.commit { $0.put(.numbered(3)) }
            #expect(try await first.commitment(of: planned) == .moved)

            var next = try first.create(2, after: theirs.head)
            _ = try await second.store.follow(first.workspace, node: 2, now: 1_000)
            #expect(try await first.commitment(of: next) == .moved)
            next.heard = try await first.heard()
            #expect(try await first.commitment(of: next) == .written(isHeard: true))
            let tail = try await second.store.tail(after: theirs.head.seq, limit: 9, in: first.workspace).batches
            #expect(tail.map(\.batch) == [next.batch])
            try await other.end()
        }
    }

    @Test func `a node that has stopped listening costs no batch, wherever that was planned`() async throws {
        try await withStore { under, _ in
            let head = try await under.commit { $0.skip() }.head
            _ = try await under.store.follow(under.workspace, node: 2, now: 1_000)
            // Without the workspace's lock, which the reading holds: it must not wait for it.
            let reading = try await under.store.read(ReadSet(), in: under.workspace)
            try await under.store.unfollow(under.workspace, node: 2)
            var draft = BatchDraft(after: head)
            draft.put(.numbered(1))
            let batch = try #require(try await under.commit(draft.batch, on: reading))
            var remembered = try under.create(2, after: batch.head)
            remembered.heard = 1_000
            #expect(try await under.commitment(of: remembered) == .written(isHeard: true))
            // A node that listened later than remembered may need the body.
            _ = try await under.store.follow(under.workspace, node: 3, now: 2_000)
            var stale = try under.create(3, after: remembered.batch.head)
            stale.heard = 1_000
            #expect(try await under.commitment(of: stale) == .moved)
        }
    }

    @Test(.onOneMachine("lock_timeout does not reach the workers"))
    func `a workspace that is locked too long is unavailable, and fine afterwards`() async throws {
        var options = TestSchema.options
        options.lockTimeout = .milliseconds(50)
        try await withStore(options) { under, schema in
            try await under.commit { $0.skip() }
            try await schema.whileLocked { _ in
                let error = await #expect(throws: StoreError.self) { try await under.commit { $0.skip() } }
                #expect(error?.kind == .unavailable)
            }
            #expect(try await under.commit { $0.skip() }.low == 2)
        }
    }

    @Test(arguments: [Array("{".utf8), Array(#""\ud83""#.utf8), [0x22, 0xff, 0x22], Array("\"\0\"".utf8)])
    func `a body that the database refuses is the data's fault, and leaves nothing`(_ body: [UInt8]) async throws {
        try await withStore { under, _ in
            let error = await #expect(throws: StoreError.self) {
                try await under.commit { draft in
                    draft.put(.numbered(1))
                    draft.put(.numbered(2))
                    draft.tamper { $0.records[1].body = body }
                }
            }
            #expect(error?.kind == .data)
            let next = try await under.commit { $0.put(.numbered(1)) }
            #expect(next.low == 1)
        }
    }

    @Test func `acknowledged numbers and connections never go back`() async throws {
        try await withStore { under, _ in
            var row = try await under.register(.numbered(50), for: .ann)
            row.settledThrough = 9
            row.ackedThrough = 4
            row.connection = 7
            let stored = row
            let before = try await under.commit { $0.settle(stored, through: 9) }
            for change in [(3, 7), (4, 6)] as [(Int64, Int64)] {
                var lower = stored
                (lower.ackedThrough, lower.connection) = change
                let settled = lower
                let error = await #expect(throws: StoreError.self) {
                    try await under.commit { $0.settle(settled, through: 9) }
                }
                #expect(error?.kind == .invariant)
            }
            let session = try await under.store.session(for: .ann, client: row.id, in: under.workspace)
            #expect(session.client == stored && session.head == before.head)
        }
    }

    @Test func `the last settled transaction, sent again, finds its result, and the next one finds none`() async throws
    {
        try await withStore { under, _ in
            let row = try await under.register(.numbered(50), for: .ann)
            let batch = try await under.commit { $0.settle(row, through: 3, refusing: [3]) }
            var reads = ReadSet()
            reads.clients = [row.id]
            let client = try #require(try await under.read(reads).clients[row.id])
            #expect([2, 3].compactMap { client.result($0) } == Array(batch.settlements[0].results.dropFirst()))
            #expect(client.result(4) == nil && client.result(0) == nil && client.result(.max) == nil)
        }
    }

    @Test func `a window has at most its rows and is cut between batches, or inside a huge one`() async throws {
        var options = TestSchema.options
        options.windowRowsMax = 3
        try await withStore(options) { under, _ in
            var batches: [CommittedBatch] = []
            for (batch, count) in [2, 2, 7, 1].enumerated() {
                batches.append(
                    try await under.commit { draft in
                        for number in 0..<count { draft.put(.numbered(Int64(batch * 10 + number))) }
                    })
            }
            let windows = try await under.windows([.a], span: 100)
            #expect(windows.map(\.records.count) == [2, 2, 3, 3, 2])
            #expect(windows.flatMap(\.records) == batches.flatMap(\.records))
            #expect(windows.map(\.through.seq) == [2, 4, 7, 10, 12])
            #expect(windows[2].through.nonce == batches[2].head.nonce)
        }
    }

    /// The rows of the page wait for a lock behind which another batch is committed; its head was read before.
    @Test func `a commit during the read of a page is not in it`() async throws {
        let batch = Statement.simple(
            "INSERT INTO sync_batch (workspace, seq, low, nonce, time, epoch)"
                + " SELECT workspace, 2, 2, 9, time, epoch FROM sync_batch")
        let record = Statement.simple(
            """
            INSERT INTO sync_record (
                workspace, collection, id, scope, place, seq, born, deleted, author, created, updated, octets, body)
            SELECT workspace, collection, '\(UniqueID.numbered(2))', scope, place, 2, 2, deleted, author, created, updated,
                octets, body
            FROM sync_record
            """)
        try await withStore { under, schema in
            let first = try await under.commit { $0.put(.numbered(1)) }
            try await withThrowingTaskGroup(of: Page.self) { pages in
                try await schema.whileLocked(then: [batch, record]) { holder in
                    _ = try await holder.run([.simple("LOCK TABLE sync_record IN ACCESS EXCLUSIVE MODE")])
                    pages.addTask {
                        try await under.store.page(
                            scope: .a, collection: "message", before: .max, limit: 9, in: under.workspace)
                    }
                    let blocked = "SELECT FROM pg_stat_activity WHERE pg_blocking_pids(pid) @> ARRAY[pg_backend_pid()]"
                    while try await holder.run([.simple(blocked)]).first?.rowCount != 1 {}
                }
                let page = try #require(try await pages.next())
                #expect(page.at == first.head && page.records == first.records)
            }
            let after = try await under.store.page(
                scope: .a, collection: "message", before: .max, limit: 9, in: under.workspace)
            #expect(after.at.seq == 2 && after.records.count == 2)
        }
    }
}

extension StoreUnderTest {
    /// The last time at which another node renewed its listening.
    fileprivate func heard() async throws -> Milliseconds? {
        let reading = try await store.read(ReadSet(), in: workspace)
        await reading.turn?.end()
        return reading.heard
    }
}
