import GRDB
import GRDBSQLite
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Devices that hold many scopes.
@Suite struct ManyScopesTests {
    private func scopes(_ count: Int) -> [ScopeID] { (1...count).map { RecordKey.room(UInt64($0)).scope } }

    private func join(_ bench: Bench, _ count: Int) throws {
        _ = try bench.database.beginConnection()
        let added = scopes(count).enumerated().map {
            Changes.GrantChange(scope: $1, since: Int64($0 + 1), role: .member)
        }
        try bench.database.welcomed(.make(added: added))
    }

    /// Fills everything, with one record in each scope, and as many requests at once as an engine makes.
    private func fill(_ bench: Bench) throws {
        while case let requests = try bench.database.nextPages(limit: 256), !requests.isEmpty {
            let pages = requests.map { request -> (PageAnswer, to: PageRequest?) in
                // The numbers of scopes are those of their grants.
                let rows =
                    request.collection == "rooms" ? [Change.room(UInt64(request.since), seq: request.since)] : []
                return (
                    PageAnswer(
                        id: 1, scope: request.scope, since: request.since, collection: request.collection,
                        changes: rows, next: nil), to: request
                )
            }
            #expect(try bench.database.apply(pages) == pages.count)
        }
    }

    /// The hundreds of instructions of SQLite's virtual machine that `body` uses.
    private func steps(_ bench: Bench, _ body: () throws -> Void) throws -> Int {
        let count = StepCount()
        bench.database.writer.unsafeReentrantWrite { db in
            let context = Unmanaged.passUnretained(count).toOpaque()
            sqlite3_progress_handler(db.sqliteConnection, 100, { StepCount.add($0) }, context)
        }
        try body()
        bench.database.writer.unsafeReentrantWrite { db in
            sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil)
        }
        return withExtendedLifetime(count) { count.steps }
    }

    @Test func `filling twice as many scopes takes twice as many steps`() throws {
        var taken: [Int] = []
        for count in [400, 800, 1_600] {
            let bench = try Bench()
            taken.append(
                try steps(bench) {
                    try join(bench, count)
                    try fill(bench)
                })
            #expect(try bench.count("rooms") == count)
            #expect(try bench.count("tidemark_scope_page WHERE is_complete = 0") == 0)
        }
        print("hundreds of steps for 400, 800 and 1,600 scopes: \(taken)")
        #expect(Double(taken[1]) < 2.3 * Double(taken[0]))
        #expect(Double(taken[2]) < 2.3 * Double(taken[1]))
    }

    @Test func `the next request is found without reading scopes that are filled or come later`() throws {
        let bench = try Bench()
        try join(bench, 2_000)
        let few = try steps(bench) { try #expect(bench.database.nextPages(limit: 10).count == 10) }
        let many = try steps(bench) { try #expect(bench.database.nextPages(limit: 1_000).count == 1_000) }
        #expect(few * 20 < many, "\(few) of \(many)")
        #expect(try bench.database.nextPages(limit: 3).map(\.scope) == Array(scopes(2_000).suffix(3).reversed()))
        #expect(try bench.database.nextPages(limit: 9).allSatisfy { $0.collection == "rooms" })
    }

    @Test func `a device with many scopes sends digests of them, and applies the differences`() throws {
        let bench = try Bench()
        try join(bench, 300)
        try fill(bench)
        let start = try bench.database.beginConnection()
        let digests = try #require(start.digests)
        #expect(digests.parts.count == 4)
        let left = scopes(300)[7]
        let part = digests.part(of: left)
        // The server has another list of one part: one scope is missing, one has another grant, and one is new.
        let others = scopes(300).enumerated().filter { digests.part(of: $1) == part && $1 != left }
        let regranted = try #require(others.first).element
        var number: UInt64 = 1_000
        while digests.part(of: RecordKey.room(number).scope) != part { number += 1 }
        let new = RecordKey.room(number).scope
        var welcome = Welcome.make(state: .ok)
        welcome.parts = ListedParts(count: 4, listed: [part])
        welcome.added = others.map {
            .init(scope: $0.element, since: $0.element == regranted ? 900 : Int64($0.offset + 1), role: .member)
        }
        welcome.added.append(.init(scope: new, since: 901, role: .owner))
        try bench.database.welcomed(welcome)
        let held = try bench.database.writer.read { try ScopeTable(db: $0).all() }
        #expect(held.count == 300 && !held.contains { $0.scope == left })
        #expect(held.contains(HeldScope(scope: regranted, since: 900)))
        #expect(Set(try bench.database.nextPages(limit: 99).map(\.scope)) == [regranted, new])
        #expect(try bench.count("rooms") == 298)
    }

    @Test func `a scope that does not fit is deleted, and pending writes in it are sent all the same`() throws {
        let bench = try Bench()
        let room = RecordKey.room(1).scope
        try bench.join(room)
        try bench.write(1, .note(1))
        var welcome = Welcome.make(state: .ok, purged: [room])
        (welcome.notFitting, welcome.leftOut) = ([room], 1)
        try bench.database.welcomed(welcome)
        #expect(try bench.database.parked().isEmpty && bench.database.pendingCount() == 1)
        #expect(try bench.database.writer.read { try ScopeTable(db: $0).all() }.isEmpty)
        #expect(try bench.database.lastKnown().scopesLeftOut == 1)
    }

    @Test func `after a cleared cache everything is requested again`() throws {
        let bench = try Bench()
        try join(bench, 300)
        try fill(bench)
        try bench.database.clearCache()
        #expect(try bench.count("rooms") == 0)
        try fill(bench)
        #expect(try bench.count("rooms") == 300)
    }
}

/// Counts on any thread that the database uses.
private final class StepCount: Sendable {
    private let count = Lock(0)

    var steps: Int { count.current }

    static func add(_ context: UnsafeMutableRawPointer?) -> CInt {
        guard let context else { return 0 }
        Unmanaged<StepCount>.fromOpaque(context).takeUnretainedValue().count.add(1)
        return 0
    }
}
