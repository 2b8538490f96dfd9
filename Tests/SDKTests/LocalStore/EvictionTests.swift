import Foundation
import GRDB
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct EvictionTests {
    private let room = RecordKey.room(1).scope

    /// A room with notes 1 to `count`, born 10, 20 and so on, all of them in the copy.
    private func bench(
        _ count: UInt64, _ limits: LocalLimits = LocalLimits(), schema: String = TestSchema.text
    ) throws -> Bench {
        let bench = Bench(
            database: try .inMemory(
                account: Bench.user, schema: try TestSchema.schema(schema), newClient: Bench.client, limits: limits))
        try bench.join(room)
        for collection in ["rooms", "people"] { try bench.page(room, collection) }
        let notes = (1...count).reversed().map { number in
            var change = Change.note(number, seq: Int64(number) * 10, ["text": .string("n\(number)")])
            change.created = Int64(number) * 1_000
            return change
        }
        try bench.database.apply(
            PageAnswer(id: 1, scope: room, since: 1, collection: "notes", changes: notes, next: nil))
        return bench
    }

    private func policy(_ change: (inout CachePolicy) -> Void) -> CachePolicy {
        var policy = CachePolicy()
        policy.maxBytes = nil
        change(&policy)
        return policy
    }

    private func filling(_ bench: Bench) throws -> String? {
        try bench.string(
            """
            SELECT coalesce(floor, '-') || ' ' || is_complete || ' ' || coalesce(remaining, '-')
            FROM tidemark_scope_page WHERE collection = 'notes'
            """)
    }

    private func history(_ bench: Bench) throws -> OlderRecords {
        try bench.database.writer.read { try OlderRecords.fetch($0, "notes", room) }
    }

    @Test func `the oldest are evicted by count, the floor marks the rest, and nothing is requested again`()
        throws
    {
        let bench = try bench(10)
        #expect(try history(bench) == OlderRecords(exist: false, isLoading: false))
        #expect(try bench.database.evict(policy { $0.maxRows = 4 }, now: 0) == 6)
        #expect(try bench.count("notes") == 4)
        #expect(try filling(bench) == "70 0 0")
        #expect(try bench.database.nextPages(limit: 9).isEmpty)
        #expect(try history(bench) == OlderRecords(exist: true, isLoading: false))
        #expect(try bench.database.evict(policy { $0.maxRows = 4 }, now: 0) == 0)
    }

    @Test func `the oldest are evicted by age`() throws {
        let bench = try bench(10)
        #expect(try bench.database.evict(policy { $0.age = .seconds(5) }, now: 10_000) == 4)
        #expect(try filling(bench) == "50 0 0")
        #expect(try bench.database.evict(policy { $0.age = .seconds(5) }, now: 1_000_000) == 6)
        #expect(try filling(bench) == "101 0 0")
        try bench.apply(.note(11, seq: 200))
        #expect(try bench.count("notes") == 1)
    }

    @Test func `unsent, refused and referenced records stay`() throws {
        let bench = try bench(10)
        try bench.write(1, .set(.note(1), "text", "mine"))
        try bench.write(2, .set(.note(2), "text", "refused"))
        try bench.apply(settled: .outcomes([(1, 1, nil), (2, 2, .forbidden)]))
        try bench.write(3, .set(.note(3), "text", "pending"))
        #expect(try bench.state(.note(2)) == "failed")
        #expect(try bench.database.evict(policy { $0.maxRows = 1 }, now: 0) == 7)
        #expect(try bench.row(.note(1)) == nil)
        #expect(try bench.row(.note(2)) != nil && bench.row(.note(3)) != nil && bench.row(.note(10)) != nil)
        // The pending one is evicted once it is settled.
        try bench.apply(from: "c1", to: "c2", .note(3, seq: 900, born: 30), settled: .accepted(3, 3))
        #expect(try bench.database.evict(policy { $0.maxRows = 1 }, now: 0) == 1)
        try keepsWhatIsReferredTo()
    }

    /// Checks that notes 1 and 2 stay, which a pending reply and a refused one refer to.
    private func keepsWhatIsReferredTo() throws {
        let replies = """
            "replies": {"scope": "room", "fields": {
                "room": {"type": "reference", "required": true, "merge": "immutable"}, "about": "reference"}},
            "people": {
            """
        let bench = try bench(
            10, schema: TestSchema.text.replacing("\"people\": {\"scope\"", with: "\(replies)\"scope\""))
        for number in [UInt64(1), 2] {
            let fields: Fields = ["about": .string(RecordKey.note(number).id.description)]
            let key = RecordKey(collection: "replies", id: UniqueID(high: 7, low: number))
            try bench.write(number, .create(key, fields.inRoom(1)))
        }
        try bench.apply(settled: .outcomes([(1, 1, .forbidden)]))
        #expect(try bench.database.parked().count == 1 && bench.database.pendingCount() == 1)
        #expect(try bench.database.evict(policy { $0.maxRows = 1 }, now: 0) == 7)
        #expect(try bench.row(.note(1)) != nil && bench.row(.note(2)) != nil && bench.row(.note(3)) == nil)
    }

    @Test func `older ones return on request, a page at a time`() throws {
        var limits = LocalLimits()
        limits.pageRows = 3
        let bench = try bench(10, limits)
        try bench.database.evict(policy { $0.maxRows = 4 }, now: 0)
        #expect(try bench.database.wantOlder("notes", in: room, count: 4))
        #expect(try history(bench) == OlderRecords(exist: true, isLoading: true))
        var request = try #require(try bench.database.nextPages(limit: 9).first)
        #expect(request.before == 70 && request.limit == 3)
        // A deletion that overtakes the page is remembered.
        try bench.apply(.note(5, seq: 500, born: 50, deleted: true))
        #expect(
            try bench.database.apply(
                PageAnswer(
                    id: 1, scope: room, since: 1, collection: "notes",
                    changes: [.note(6, seq: 60), .note(5, seq: 50), .note(4, seq: 40)], next: 40), to: request))
        #expect(try bench.row(.note(6)) != nil && bench.row(.note(5)) == nil && bench.row(.note(4)) != nil)
        request = try #require(try bench.database.nextPages(limit: 9).first)
        #expect(request.before == 40 && request.limit == 1)
        // The copy is trimmed while the page is on its way: the page would leave a gap.
        try bench.database.evict(policy { $0.maxRows = 2 }, now: 0)
        #expect(
            try !bench.database.apply(
                PageAnswer(id: 2, scope: room, since: 1, collection: "notes", changes: [.note(3, seq: 30)], next: 30),
                to: request))
        #expect(try bench.row(.note(3)) == nil)
        #expect(try filling(bench) == "90 0 0")
        #expect(try bench.count("tidemark_tombstone") == 0)
        #expect(try bench.database.wantOlder("notes", in: room, count: nil))
        #expect(try bench.database.nextPages(limit: 9).map(\.before) == [90])
        try bench.page(room, "notes", next: nil)
        #expect(try history(bench) == OlderRecords(exist: false, isLoading: false))
        #expect(try !bench.database.wantOlder("notes", in: room, count: 4))
    }

    @Test func `evicted records are requested once by a list that is scrolled to them`() async throws {
        let store = try SyncStore.test()
        let bench = Bench(database: store.database)
        try bench.join(room)
        for collection in ["rooms", "people"] { try bench.page(room, collection) }
        let rows = (1...10 as ClosedRange<UInt64>).reversed().map {
            Change.note($0, seq: Int64($0) * 10, ["text": "n"])
        }
        try store.database.apply(
            PageAnswer(id: 1, scope: room, since: 1, collection: "notes", changes: rows, next: nil))
        #expect(try store.database.evict(policy { $0.maxRows = 4 }, now: 0) == 6)
        let notes = store.repository(Note.self)
        for (filter, limit) in [(.all, 4), (.all, nil), (\.text == "n", 9)] as [(ModelFilter<Note>, Int?)] {
            var values = notes.observe(where: filter, limit: limit, in: room).makeAsyncIterator()
            #expect(try await values.next()?.count == 4)
            #expect(try store.database.nextPages(limit: 9).isEmpty)
        }
        var values = notes.observe(limit: 9, in: room).makeAsyncIterator()
        #expect(try await values.next()?.count == 4)
        #expect(try store.database.nextPages(limit: 9).map(\.before) == [70])
        try bench.page(room, "notes", .note(6, seq: 60, ["text": "n"]), .note(5, seq: 50, ["text": "n"]), next: 50)
        #expect(try await values.next()?.count == 6)
        // They are evicted again while the list is visible: it does not begin again.
        #expect(try store.database.evict(policy { $0.maxRows = 4 }, now: 0) == 2)
        #expect(try await values.next()?.count == 4)
        #expect(try store.database.nextPages(limit: 9).isEmpty)
    }

    /// Makes a file that is larger than its policy allows.
    private func large(in folder: TemporaryFolder) throws -> Bench {
        var limits = LocalLimits()
        limits.cache.maxBytes = 600_000
        limits.cache.newestKept = 10
        let text = TestSchema.text.replacing(
            #""text": {"type": "string", "max": 100}"#, with: #""text": {"type": "string", "search": true}"#)
        let bench = Bench(
            database: try .open(
                path: folder.path("x.sqlite"), account: Bench.user, schema: try TestSchema.schema(text),
                newClient: Bench.client, limits: limits))
        try bench.join(room)
        for collection in ["rooms", "people"] { try bench.page(room, collection) }
        let words = FieldValue.string(String(repeating: "tide ", count: 800))
        let rows = (1...400 as ClosedRange<UInt64>).reversed().map { number in
            var change = Change.note(number, seq: Int64(number) * 10, ["text": words])
            change.created = Int64(number)
            return change
        }
        try bench.database.apply(
            PageAnswer(id: 1, scope: room, since: 1, collection: "notes", changes: rows, next: nil))
        return bench
    }

    @Test func `space that eviction frees is returned to the disk`() throws {
        let folder = try TemporaryFolder()
        let bench = try large(in: folder)
        func size() throws -> Int64 { try bench.database.writer.read { try FileSize(db: $0).total() } }
        #expect(try size() > 1_500_000)
        #expect(try !bench.database.giveBack(), "all of it is used")
        #expect(try bench.database.evict(now: 0) > 200)
        let before = try bench.count("notes")
        #expect(try bench.database.giveBack())
        #expect(try size() < 650_000)
        #expect(try bench.count("notes") == before)
        #expect(try !bench.database.giveBack(), "what is left is used")
    }

    @Test func `a store that is trimmed returns space by itself`() async throws {
        let folder = try TemporaryFolder()
        let bench = try large(in: folder)
        await SyncStore(database: bench.database, environment: .system).trim(clock: OneTurn())
        #expect(try await bench.database.writer.read { try FileSize(db: $0).total() } < 650_000)
    }

    @Test func `a scope is filled with the newest records, and the rest waits for a request`() throws {
        var limits = LocalLimits()
        limits.cache.filling = .newest(50)
        limits.cache.fillings = ["rooms": .newest(1)]
        let bench = Bench(
            database: try .inMemory(
                account: Bench.user, schema: try TestSchema.schema(), newClient: Bench.client, limits: limits))
        try bench.join(room)
        #expect(try bench.database.nextPages(limit: 9).map(\.limit) == [200])
        try bench.page(room, "rooms", .room(1, seq: 5))
        #expect(try bench.database.nextPages(limit: 9).map(\.limit) == [50])
        let notes = (1...50).map { Change.note(UInt64($0), seq: 1_000 + Int64($0)) }
        try bench.database.apply(
            PageAnswer(id: 1, scope: room, since: 1, collection: "notes", changes: notes, next: 1_001))
        #expect(try bench.database.nextPages(limit: 9).isEmpty)
        let counts = try bench.database.writer.read { try SyncCounts.fetch($0) }
        #expect(counts.filled.fraction == 1)
        #expect(try history(bench).exist)
    }

    @Test func `a page that arrives again when no more is wanted is dropped: its guard is gone`() throws {
        var limits = LocalLimits()
        limits.cache.filling = .newest(2)
        let bench = Bench(
            database: try .inMemory(
                account: Bench.user, schema: try TestSchema.schema(), newClient: Bench.client, limits: limits))
        try bench.join(room)
        try bench.page(room, "rooms")
        let page = PageAnswer(
            id: 1, scope: room, since: 1, collection: "notes", changes: [.note(2, seq: 20), .note(1, seq: 10)], next: 10
        )
        #expect(try bench.database.apply(page))
        try bench.apply(.note(1, seq: 30, born: 10, deleted: true))
        #expect(try bench.row(.note(1)) == nil)
        #expect(try !bench.database.apply(page))
        #expect(try bench.row(.note(1)) == nil && bench.row(.note(2)) != nil)
    }

    @Test func `the size of the file evicts the oldest, but not the newest of each scope`() throws {
        let folder = try TemporaryFolder()
        let database = try LocalDatabase.open(
            path: folder.path("x.sqlite"), account: Bench.user, schema: try TestSchema.schema(), newClient: Bench.client
        )
        let bench = Bench(database: database)
        try bench.join(room, RecordKey.room(2).scope)
        for number in [UInt64(1), 2] {
            let rows = (1...2_000).map { index in
                var change = Change.note(
                    number * 10_000 + UInt64(index), in: number, seq: Int64(number) * 10_000 + Int64(index),
                    ["text": .string(String(repeating: "x", count: 90))])
                change.created = Int64(number) * 100_000 + Int64(index)
                return change
            }
            try database.apply(
                PageAnswer(
                    id: 1, scope: RecordKey.room(number).scope, since: 1, collection: "notes", changes: rows, next: nil)
            )
        }
        let before = try database.writer.read { try FileSize(db: $0).used() }
        let evicted = try database.evict(policy { $0.maxBytes = before / 2 }, now: 0)
        let after = try database.writer.read { try FileSize(db: $0).used() }
        #expect(evicted > 1_500 && after <= before / 2)
        // Room 1 is older in all of its rows: only its newest remain.
        #expect(try bench.string("SELECT count(*) FROM notes WHERE scope = '\(room)'") == "50")
        #expect(try bench.string("SELECT max(server_id) FROM notes WHERE scope = '\(room)'") == "12000")
        #expect(try bench.count("notes") == 4_000 - evicted)
        try database.evict(policy { $0.maxBytes = 1 }, now: 0)
        #expect(try bench.count("notes") == 100)
    }

    @Test func `records of one moment are evicted in the order of their numbers, and no more than necessary`() throws {
        let folder = try TemporaryFolder()
        let database = try LocalDatabase.open(
            path: folder.path("x.sqlite"), account: Bench.user, schema: try TestSchema.schema(), newClient: Bench.client
        )
        let bench = Bench(database: database)
        try bench.join(room)
        let rows = (1...4_000).map { index in
            var change = Change.note(
                UInt64(index), in: 1, seq: Int64(index) + 1, ["text": .string(String(repeating: "x", count: 90))])
            change.created = 100_000
            return change
        }
        try database.apply(
            PageAnswer(id: 1, scope: room, since: 1, collection: "notes", changes: rows, next: nil))
        let before = try database.writer.read { try FileSize(db: $0).used() }
        let evicted = try database.evict(policy { $0.maxBytes = before / 2 }, now: 0)
        #expect(evicted > 1_500 && evicted < 3_500, "\(evicted)")
        #expect(try bench.string("SELECT min(server_id) FROM notes") == "\(evicted + 2)")
    }

    @Test func `trimming continues after an error, which is reported`() async throws {
        var limits = LocalLimits()
        limits.cache.maxRows = 4
        let bench = try bench(10, limits)
        let store = SyncStore(database: bench.database, environment: .system)
        var events = store.events.makeAsyncIterator()
        let disk = FailingCommits(2)
        bench.database.writer.add(transactionObserver: disk, extent: .databaseLifetime)
        let rounds = RoundClock(rounds: 5)
        await store.trim(clock: rounds)
        #expect(rounds.left == 0)
        #expect(try bench.count("notes") == 4)
        guard case .trimFailed(let reason)? = await events.next() else { Issue.record("the error is not told"); return }
        #expect(reason.contains("disk is full"))
        #expect(await events.next() == .evicted(records: 6), "the same error is told once")
    }
}

/// Refuses this many commits, as a full disk does.
private final class FailingCommits: TransactionObserver, Sendable {
    private let left: Lock<Int>

    init(_ count: Int) { left = Lock(count) }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}

    func databaseWillCommit() throws {
        let isRefused = left.withLock { left in
            left -= 1
            return left >= 0
        }
        if isRefused { throw DatabaseError(resultCode: .SQLITE_FULL, message: "database or disk is full") }
    }
}

/// Sleeps for no time, this many times; then its task ends.
private final class RoundClock: Clock, Sendable {
    private let rounds: Lock<Int>

    init(rounds: Int) { self.rounds = Lock(rounds) }

    var left: Int { rounds.withLock { $0 } }
    var now: ContinuousClock.Instant { ContinuousClock().now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try rounds.withLock { rounds in
            rounds -= 1
            if rounds <= 0 { throw CancellationError() }
        }
    }
}

/// A clock whose time ends with the first wait.
private struct OneTurn: Clock {
    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Swift.Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Swift.Duration?) async throws {
        throw CancellationError()
    }
}
