import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

/// Whole systems in virtual time. `SEED=n` replays one seed; `ROUNDS=n` runs as many, from `FIRST` or 121. `DAYS=n`
/// looks for false alarms in so many days of devices, from seed `FIRST` or 1. `LINES=n` prints so many trace lines
/// before a failure.
@Suite struct SimulationTests {
    /// The number of failed seeds after which a run stops.
    private static let brokenMax = 10
    /// Seeds that are always run, for their faults.
    private static let faulty = 61...120 as ClosedRange<UInt64>
    private let schemas: WorkloadSchema
    private let shelf = Shelf()

    init() throws { schemas = try WorkloadSchema() }

    /// Each half takes every other seed: a course uses one core.
    @Test(arguments: [0, 1] as [UInt64]) func `every seed keeps every invariant and converges`(_ half: UInt64) throws {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["SEED"].flatMap({ UInt64($0) }) {
            if half == 0 { report(try course(of: seed), seed) }
            return
        }
        let rounds = environment["ROUNDS"].flatMap { UInt64($0) } ?? 100
        let most = environment["BROKEN"].flatMap { Int($0) } ?? Self.brokenMax
        let first = environment["FIRST"].flatMap { UInt64($0) } ?? Self.faulty.upperBound + 1
        var broken: [(seed: UInt64, violation: Violation)] = []
        for seed in first..<first + rounds where seed % 2 == half && broken.count < most {
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

    @Test func `copies are compared in the courses, a day of a device each time, without a finding`() throws {
        let environment = ProcessInfo.processInfo.environment
        let wanted = environment["DAYS"].flatMap { Int($0) } ?? 10
        let first = environment["FIRST"].flatMap { UInt64($0) } ?? 1
        var (days, records, courses) = (0, 0, UInt64(0))
        while days < wanted, courses < 100_000 {
            let seed = first + courses
            courses += 1
            let world = try World(seed: seed, schemas: schemas, shelf: shelf)
            guard world.damages.planned == 0 else {
                try shelf.putBack(world.devices)
                continue
            }
            try run(world)
            if world.violation != nil { report(world, seed) }
            #expect(world.damages.found == 0)
            // A long search prints its progress.
            if (days + world.daysCompared) / 500 > days / 500, wanted > 500 {
                print("\(days + world.daysCompared) days, \(courses) courses")
            }
            days += world.daysCompared
            records += world.compared
        }
        print("\(days) days of devices, \(records) records compared, in \(courses) courses")
        #expect(days >= wanted && records > days)
    }

    @Test func `each kind of fault strikes in the courses of sixty seeds, and breaks nothing`() throws {
        let worlds = try Self.faulty.map { try course(of: $0) }
        for world in worlds where world.violation != nil { report(world, world.plan.seed) }
        func sum(_ count: (World) -> Int) -> Int { worlds.map(count).reduce(0, +) }
        // Copies are damaged, and repaired by comparing.
        let (planted, found, told) = (sum(\.damages.planned), sum(\.damages.found), sum { Int($0.damages.told) })
        #expect(found > 20 && found <= planted)
        #expect(told > 20 && told <= found)
        // The database goes back: copies follow it, and fetch single records.
        #expect(sum(\.rewinds.count) > 0 && sum(\.rewinds.epochs) > 0)
        #expect(sum(\.rewinds.tails) > 10)
        #expect(sum(\.rewinds.fetched) > 0)
        // Devices return from below the horizon, and compare their copies.
        #expect(sum(\.compactions.tombstones) > 10)
        #expect(sum(\.compactions.compared) > 10)
        // Files are restored, or opened twice.
        #expect(sum(\.files.restored) > 1)
        #expect(sum(\.files.cloned) > 3)
        #expect(sum(\.files.forks) > 3)
        // Files are damaged, and unsent writes are saved.
        #expect(sum(\.salvages.saved) > 5)
        // Apps are updated while they have something to send, and a field is renamed in the new version.
        #expect(sum { $0.devices.count(where: \.isUpdated) } > 5)
        // Scopes are erased while users write.
        #expect(sum(\.erasures.erased.count) > 10)
        #expect(worlds.flatMap(\.erasures.erased.values).reduce(0, +) > 30)
        // Devices and users are signed out.
        #expect(sum(\.signOuts.ended) > 10)
        // The keys of cursors are rotated, and devices continue from cursors that another key sealed.
        #expect(sum(\.rotations.restarts) > 30 && sum(\.rotations.continued) > 0)
        // Devices send digests of their scopes.
        #expect(sum(\.digests) > 100)
        // Users send ephemeral messages.
        #expect(sum(\.heard) > 200)
    }

    @Test(arguments: 61...84 as ClosedRange<UInt64>) func `each device's recording replays to the same actions`(
        _ seed: UInt64
    ) throws {
        let world = try course(of: seed)
        for device in world.devices {
            let recording = try Recording(lines: device.recorder.lines())
            let replay = FlightReplay(recording)
            #expect(replay.isSame, "d\(device.number): \(replay.steps.compactMap(\.difference)) \(replay.marks)")
            #expect(
                replay.steps.count > 5 && recording.torn == 0,
                "d\(device.number): \(replay.steps.count) of \(replay.entries)")
            let broken = FlightJudge(replay).findings.filter { $0.kind == .invariant || $0.isStanding }
            #expect(broken == [], "d\(device.number)")
        }
    }

    private func course(of seed: UInt64) throws -> World {
        let world = try World(seed: seed, schemas: schemas, shelf: shelf)
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
            what a device did: tide replay --explain \(world.writeRecordings())
            """)
    }
}
