import Foundation
import Testing
import TidemarkModel

/// Whole systems in virtual time. `SEED=n` replays one seed, `ROUNDS=n` runs as many from `FIRST`, or 1; `DAYS=n` looks for false
/// alarms in so many days of devices, from `FIRST` on; `LINES=n` prints so many lines of what led to a failure.
@Suite struct SimulationTests {
    /// Seeds that may fail before a run is given up.
    private static let brokenMax = 10
    private let schema: Schema
    private let shelf = Shelf()

    init() throws { schema = try WorkloadSchema.load() }

    @Test func `every seed keeps every invariant and converges`() throws {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["SEED"].flatMap({ UInt64($0) }) { return report(try course(of: seed), seed) }
        let rounds = environment["ROUNDS"].flatMap { UInt64($0) } ?? 100
        let most = environment["BROKEN"].flatMap { Int($0) } ?? Self.brokenMax
        let first = environment["FIRST"].flatMap { UInt64($0) } ?? 1
        var broken: [(seed: UInt64, violation: Violation)] = []
        for seed in first..<first + rounds where broken.count < most {
            let world = try course(of: seed)
            guard let violation = world.violation else { continue }
            if broken.isEmpty { report(world, seed) }
            broken.append((seed, violation))
        }
        for (seed, violation) in broken.dropFirst() {
            Issue.record("seed \(seed) broke \(violation.invariant.rawValue): \(violation.message)")
        }
    }

    @Test(arguments: [3, 14, 159] as [UInt64]) func `the same seed takes the same course`(_ seed: UInt64) throws {
        let first = try course(of: seed)
        let second = try course(of: seed)
        #expect(first.trace.hash == second.trace.hash)
        #expect(first.trace.count == second.trace.count && first.trace.count > 100)
    }

    @Test func `what people say besides is heard in the courses`() throws {
        #expect(try (1...5).map { try course(of: $0).heard }.reduce(0, +) > 20)
    }

    @Test func `copies are compared in the courses, a day of a device each time, and nothing is found`() throws {
        let environment = ProcessInfo.processInfo.environment
        let wanted = environment["DAYS"].flatMap { Int($0) } ?? 60
        let first = environment["FIRST"].flatMap { UInt64($0) } ?? 1
        var (days, records, courses) = (0, 0, UInt64(0))
        while days < wanted, courses < 100_000 {
            let seed = first + courses
            courses += 1
            let world = try World(seed: seed, schema: schema, shelf: shelf)
            guard world.damages.planned == 0 else {
                try shelf.putBack(world.devices)
                continue
            }
            try run(world)
            if world.violation != nil { report(world, seed) }
            #expect(world.damages.found == 0)
            // A long look says how far it is.
            if (days + world.daysCompared) / 500 > days / 500, wanted > 500 {
                print("\(days + world.daysCompared) days, \(courses) courses")
            }
            days += world.daysCompared
            records += world.compared
        }
        print("\(days) days of devices, \(records) records compared, in \(courses) courses")
        #expect(days >= wanted && records > days)
    }

    @Test func `in some courses copies are damaged, and mended by comparing`() throws {
        let worlds = try (1...40).map { try course(of: $0) }
        let planted = worlds.map(\.damages.planted).reduce(0, +)
        let (found, told) = (worlds.map(\.damages.found).reduce(0, +), worlds.map(\.damages.told).reduce(0, +))
        #expect(found > 20 && found <= planted)
        #expect(told > 20 && told <= found)
        for world in worlds { if world.violation != nil { report(world, world.plan.seed) } }
    }

    @Test func `in some courses the database goes back, and nobody is stuck`() throws {
        let worlds = try (1...12).map { try course(of: $0) }.filter { $0.rewinds.count > 0 }
        #expect(!worlds.isEmpty)
        #expect(worlds.contains { $0.rewinds.epochs > 0 })
        for world in worlds { if world.violation != nil { report(world, world.plan.seed) } }
    }

    @Test func `in some courses copies go back as far as the database, and fetch single records`() throws {
        let worlds = try (1...60).map { try course(of: $0) }
        #expect(worlds.map(\.rewinds.tails).reduce(0, +) > 10)
        #expect(worlds.map(\.rewinds.fetched).reduce(0, +) > 0)
        for world in worlds { if world.violation != nil { report(world, world.plan.seed) } }
    }

    @Test func `in some courses devices come back from below the horizon, and compare what they hold`() throws {
        let worlds = try (1...40).map { try course(of: $0) }
        #expect(worlds.map(\.compactions.tombstones).reduce(0, +) > 20)
        #expect(worlds.map(\.compactions.compared).reduce(0, +) > 10)
        for world in worlds { if world.violation != nil { report(world, world.plan.seed) } }
    }

    @Test func `in some courses files are put back or opened twice, and nothing is lost or doubled`() throws {
        let worlds = try (1...60).map { try course(of: $0) }
        #expect(worlds.map(\.files.restored).reduce(0, +) > 2)
        #expect(worlds.map(\.files.cloned).reduce(0, +) > 3)
        #expect(worlds.map(\.files.forks).reduce(0, +) > 3)
        for world in worlds { if world.violation != nil { report(world, world.plan.seed) } }
    }

    @Test func `in some courses scopes are erased while people write`() throws {
        let worlds = try (1...25).map { try course(of: $0) }
        #expect(worlds.map(\.erasures.erased.count).reduce(0, +) > 10)
        #expect(worlds.flatMap(\.erasures.erased.values).reduce(0, +) > 30)
        for world in worlds { if world.violation != nil { report(world, world.plan.seed) } }
    }

    private func course(of seed: UInt64) throws -> World {
        let world = try World(seed: seed, schema: schema, shelf: shelf)
        try run(world)
        return world
    }

    private func run(_ world: World) throws {
        world.runCourse()
        try shelf.putBack(world.devices)
    }

    private func report(_ world: World, _ seed: UInt64) {
        guard let violation = world.violation else {
            let seconds = (world.now - World.beginning) / 1_000
            print(
                "seed \(seed): \(world.events) events in \(seconds) virtual seconds, trace \(String(world.trace.hash, radix: 16))"
            )
            return
        }
        let lines = world.trace.tail.joined(separator: "\n")
        Issue.record(
            """
            seed \(seed) broke \(violation.invariant.rawValue)
            \(violation.message)
            \(lines)
            replay with: SEED=\(seed) swift test --filter Simulation
            """)
    }
}
