import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Settings of single scopes: pinned, with a budget, evicted alone.
@Suite(.timeLimit(.minutes(5))) struct KeepingTests {
    private let rooms = [RecordKey.room(1).scope, RecordKey.room(2).scope]

    /// Two rooms with ten notes each, all of them in the copy, a second apart.
    private func bench(_ change: (inout LocalLimits) -> Void = { $0.cache.maxBytes = nil }) throws -> Bench {
        var limits = LocalLimits()
        change(&limits)
        let bench = Bench(
            database: try .inMemory(
                account: Bench.user, schema: try TestSchema.schema(), newClient: Bench.client, limits: limits))
        try bench.join(rooms[0], rooms[1])
        for (index, room) in rooms.enumerated() {
            for collection in ["rooms", "people"] { try bench.page(room, collection) }
            let first = UInt64(index) * 10
            let notes = (first + 1...first + 10).reversed().map { number in
                var change = Change.note(
                    number, in: UInt64(index) + 1, seq: Int64(number) * 10,
                    ["text": .string(.init(repeating: "n", count: 90))])
                change.created = Int64(number) * 1_000
                return change
            }
            try bench.database.apply(
                PageAnswer(id: 1, scope: room, since: 1, collection: "notes", changes: notes, next: nil))
        }
        return bench
    }

    private func store(_ bench: Bench) -> SyncStore { SyncStore(database: bench.database, environment: .counting()) }

    private func notes(_ bench: Bench) throws -> [Int] {
        try rooms.map { try bench.count("notes WHERE scope = '\($0.text)'") }
    }

    private func policy(_ change: (inout CachePolicy) -> Void) -> CachePolicy {
        var policy = CachePolicy()
        policy.maxBytes = nil
        change(&policy)
        return policy
    }

    @Test func `a pinned scope loses nothing, by count, age, size or its name`() async throws {
        let bench = try bench()
        let store = store(bench)
        try await store.setRetention(.pinned, in: rooms[0])
        #expect(try await store.evict(scope: rooms[0], keepingLast: 0) == 0)
        #expect(try bench.database.evict(policy { $0.maxRows = 4 }, now: 0) == 6)
        #expect(try notes(bench) == [10, 4])
        #expect(try bench.database.evict(policy { $0.age = .seconds(1) }, now: 1_000_000) == 4)
        #expect(try notes(bench) == [10, 0])
        #expect(
            try bench.database.evict(
                policy {
                    $0.maxBytes = 1
                    $0.newestKept = 1
                }, now: 0) == 0)
        #expect(try await store.retention(in: rooms[0]) == .pinned)
        try await store.setRetention(.policy, in: rooms[0])
        #expect(try bench.database.evict(policy { $0.maxRows = 4 }, now: 0) == 6)
        #expect(try notes(bench) == [4, 0])
    }

    @Test func `a scope has a budget of its own, above or below the others'`() async throws {
        let bench = try bench()
        let store = store(bench)
        try await store.setRetention(.newest(2), in: rooms[0])
        try await store.setRetention(.newest(8), in: rooms[1])
        #expect(try bench.database.evict(policy { $0.maxRows = 4 }, now: 0) == 10)
        #expect(try notes(bench) == [2, 8])
        #expect(try bench.database.evict(now: 0) == 0)
    }

    @Test func `one scope is evicted alone, waiting writes in it stay, and nothing is requested again`() async throws {
        let bench = try bench()
        let store = store(bench)
        try bench.write(1, .set(.note(1), "text", "pending"))
        #expect(try await store.evict(scope: rooms[0], keepingLast: 3) == 6)
        #expect(try notes(bench) == [4, 10])
        #expect(try bench.row(.note(1)) != nil && bench.row(.note(10)) != nil && bench.row(.note(7)) == nil)
        #expect(try bench.database.nextPages(limit: 9).isEmpty)
        #expect(try await store.evict(scope: rooms[0], keepingLast: 0) == 3)
        #expect(try notes(bench) == [1, 10])
        #expect(try bench.database.nextPages(limit: 9).isEmpty)
        let history = try await store.repository(Note.self).olderRecords(in: rooms[0]).first { _ in true }
        #expect(history == OlderRecords(exist: true, isLoading: false))
        #expect(try await store.repository(Note.self).loadOlder(in: rooms[0]))
        #expect(try bench.database.nextPages(limit: 9).map(\.scope) == [rooms[0]])
    }

    @Test func `usage is listed by scope, the largest first, with the settings of each`() async throws {
        let bench = try bench()
        let store = store(bench)
        try await store.setRetention(.newest(3), in: rooms[0])
        #expect(try bench.database.evict(now: 0) == 7)
        let usage = try await store.usage()
        #expect(usage.map(\.scope) == [rooms[1], rooms[0]])
        #expect(usage.map { $0.records["notes"] } == [10, 3])
        #expect(usage.map(\.retention) == [.policy, .newest(3)])
        #expect(try #require(usage.first).bytes > 900 && usage[1].bytes < usage[0].bytes / 2)
    }

    @Test func `the settings of a scope survive a restart`() async throws {
        let folder = try TemporaryFolder()
        let open = { try await SyncStore.open(account: Bench.user, at: folder.url, schema: try TestSchema.schema()) }
        let store = try await open()
        try await store.setRetention(.newest(0), in: rooms[0])
        try await store.close()
        let again = try await open()
        #expect(try await again.retention(in: rooms[0]) == .newest(1))
        #expect(try await again.retention(in: rooms[1]) == .policy)
        try await again.close()
    }

    @Test func `a connected store evicts by itself what the policy does not keep`() async throws {
        let bench = try bench { $0.cache.maxRows = 4 }
        let store = SyncStore(database: bench.database, environment: .system)
        let events = store.events
        try store.connect(to: "http://127.0.0.1:1", transport: NobodyThere()) { "token" }
        for await event in events {
            guard case .evicted(let records) = event else { continue }
            #expect(records == 12)
            break
        }
        #expect(try notes(bench) == [4, 4])
        #expect(store.metrics.evicted == 12)
        #expect(try await store.statistics().evicted == 12)
        await store.disconnect()
    }
}

/// A transport that reaches no server.
struct NobodyThere: Transport {
    struct Unreachable: Error {}

    func connect(to url: String) async throws -> any TransportConnection { throw Unreachable() }

    func exchange(_ request: HTTPCall, with url: String) async throws -> HTTPAnswer { throw Unreachable() }
}
