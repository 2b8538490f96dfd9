import Foundation
import Testing
import Tidemark
import TidemarkLock
import TidemarkModel
import TidemarkWire

@testable import TidemarkCommandLine
@testable import TidemarkTerminal

/// One server on a pair of databases, with writers and devices, and rounds of failovers under them.
final class FailoverDrill {
    static let writers = 20
    static let devices = 8
    /// The time between two writes of one client: some 140 a second together.
    private static let pace = Duration.milliseconds(200)
    /// The times without a database, in turn, besides the promotion itself: a primary's watchdog takes some time.
    private static let gaps: [Duration] = [.zero, .seconds(1), .seconds(3), .seconds(6)]
    /// The time after which a client is stuck.
    private static let healMax = Duration.seconds(30)

    private let pair: DatabasePair
    private let restarts: Bool
    private let folder: TemporaryFolder
    private var server: LiveServer
    private let ground: DrillGround
    private let tallies: [String: LocalID]
    private let writers: [RawWriter]
    private let devices: [DrillDevice]
    private let load: Task<Void, any Error>

    init(on pair: DatabasePair, restarts: Bool) async throws {
        self.pair = pair
        self.restarts = restarts
        folder = try TemporaryFolder("tidemark-failover")
        _ = try await pair.rows("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        let schema = "\(folder.path)/drill.json"
        try Data(DrillGround.schema.utf8).write(to: URL(filePath: schema))
        var limits = ["TIDEMARK_LIMIT_STANDBY_SECONDS": "1"]
        limits["TIDEMARK_DURABLE"] = ProcessInfo.processInfo.environment["TIDEMARK_DURABLE"]
        let server = try await LiveServer.start(schema: schema, database: pair.uri, limits: limits)
        let ground = DrillGround()
        let names = (0..<Self.writers).map { "w\($0)" } + (0..<Self.devices).map { "d\($0)" }
        let tallies = Dictionary(
            uniqueKeysWithValues: (names + ["fresh"]).map { ($0, LoadTarget.newClient()) })
        try await Self.open(ground, tallies, on: server)
        var devices: [DrillDevice] = []
        for name in names.dropFirst(Self.writers) {
            devices.append(
                try await DrillDevice(
                    name, on: server, at: "\(folder.path)/\(name)", ground: ground, tally: tallies[name] ?? ground.room)
            )
        }
        let writers = names.prefix(Self.writers).map { name in
            RawWriter(name, on: server, ground: ground, tally: tallies[name] ?? ground.room, pace: Self.pace)
        }
        for device in devices { try await device.settle() }
        load = Self.load(writers, devices)
        (self.server, self.ground, self.tallies) = (server, ground, tallies)
        (self.writers, self.devices) = (writers, devices)
    }

    private static func load(_ writers: [RawWriter], _ devices: [DrillDevice]) -> Task<Void, any Error> {
        Task {
            try await withThrowingDiscardingTaskGroup { group in
                for writer in writers { group.addTask { await writer.run() } }
                for device in devices { group.addTask { try await device.run(pace: pace) } }
            }
        }
    }

    private static func open(
        _ ground: DrillGround, _ tallies: [String: LocalID], on server: LiveServer
    ) async throws {
        let transaction = Transaction(
            id: LoadTarget.newClient(), mutations: ground.opening(tallies), clientTime: wallClock())
        let (socket, _) = try await RawClient(server, user: "w0").connect(1, isNew: true)
        try await socket.push(Push(first: 1, ackedThrough: 0, entries: [.init(transaction)]))
        let outcomes = try await socket.settled(through: 1)
        #expect(outcomes.allSatisfy { $0.rejection == nil })
    }

    /// Ends everything that runs.
    func abandon() async {
        load.cancel()
        await server.process.kill()
    }

    func end() async throws {
        load.cancel()
        _ = await load.result
        for device in devices { await device.store.disconnect() }
        #expect(try await server.process.stop() == 0)
    }

    /// Runs a round: a hole, a promotion, and the checks after it.
    func round(_ number: Int) async throws -> Found {
        var found = Found(round: number, restarts: restarts)
        let reoffered = devices.map(\.store.metrics.resent).reduce(0, +)
        for writer in writers { writer.log.withLock { ($0.answers, $0.last) = ([], 0) } }
        let answered = writers.map { $0.log.withLock { $0.acknowledged.count } }
        ground.round = number
        ground.isWriting = true
        try await pause(.milliseconds(1_500))
        try await pair.step("hole")
        try await pause(.milliseconds(1_500))
        if restarts { await server.process.kill() }
        try await pair.step("fail")
        found.stand = SequenceNumber(try await pair.step("stand")) ?? 0
        found.lostNumbers = (writers.map { $0.log.withLock { $0.last } }.max() ?? 0) - found.stand
        found.toldDurable = writers.map { $0.log.withLock { $0.durable } }.max() ?? 0
        try await pause(Self.gaps[number % Self.gaps.count])
        try await pair.step("promote")
        let promoted = ContinuousClock.now
        if restarts { server = try await server.started() }

        let fresh = try await DrillDevice(
            "fresh", on: server, at: "\(folder.path)/fresh\(number)", ground: ground,
            tally: tallies["fresh"] ?? ground.room)
        let marks = marks()
        while found.first == nil, ContinuousClock.now - promoted < Self.healMax {
            try await pause(.milliseconds(10))
            found.first = answers(since: promoted).values.min()
        }
        try await pause(.seconds(2))
        try await look(at: devices + [fresh], &found)
        try await heal(marks, since: promoted, &found)

        ground.isWriting = false
        do {
            try await withTimeout(.seconds(60), "the devices did not come in step") { [devices] in
                for device in devices + [fresh] { try await device.settle() }
            }
            try await judge(devices + [fresh], answered: answered, &found)
        } catch let error as ServerProcessError {
            found.stuck.append("\(error)")
        }
        found.reoffered = devices.map(\.store.metrics.resent).reduce(0, +) - reoffered
        await fresh.store.disconnect()
        try await pair.step("rebuild")
        return found
    }

    private func pause(_ time: Duration) async throws { try await ContinuousClock().sleep(for: time) }

    private typealias Mark = (name: String, task: Task<ContinuousClock.Instant, any Error>)

    /// Writes once with each device; that write is committed when everything before it is.
    private func marks() -> [Mark] {
        devices.map { device in
            (device.name, Task { try await withTimeout(Self.healMax, device.name) { try await device.writeThrough() } })
        }
    }

    /// Waits until every device and every writer has an answer.
    private func heal(_ marks: [Mark], since promoted: ContinuousClock.Instant, _ found: inout Found) async throws {
        for mark in marks {
            do {
                found.devices = max(found.devices ?? .zero, try await mark.task.value - promoted)
            } catch {
                found.stuck.append("\(mark.name): \(error)")
            }
        }
        while answers(since: promoted).count < writers.count, ContinuousClock.now - promoted < Self.healMax {
            try await pause(.milliseconds(10))
        }
        let answers = answers(since: promoted)
        found.writers = answers.values.max()
        found.stuck += writers.map(\.name).filter { answers[$0] == nil }
    }

    private func answers(since promoted: ContinuousClock.Instant) -> [String: Duration] {
        var times: [String: Duration] = [:]
        for writer in writers {
            let first = writer.log.withLock { $0.answers.first { $0 > promoted } }
            if let first { times[writer.name] = first - promoted }
        }
        return times
    }

    /// Checks that rows shown as the server's are stored.
    private func look(at devices: [DrillDevice], _ found: inout Found) async throws {
        var shown: [(device: DrillDevice, phase: ConnectionState, ids: Set<String>)] = []
        for device in devices {
            // Read first: a device that is connected by now has been notified.
            let phase = device.store.currentStatus.connection
            let notes = try await device.shown(in: found.round)
            shown.append((device, phase, Set(notes.map { $0.id.uuidString.lowercased() })))
        }
        let stored = Set(
            try await pair.rows("SELECT id FROM sync_record WHERE collection = 'notes' AND NOT deleted").map { $0[0] })
        for (device, phase, ids) in shown {
            found.looked += ids.count
            guard !ids.isSubset(of: stored) else { continue }
            let words = "\(device.name): \(ids.subtracting(stored).count), \(phase)"
            switch phase {
            case .live, .catchingUp: found.shown.append(words)
            case .stopped, .connecting, .waiting, .offline, .rejected: found.shownApart.append(words)
            }
        }
    }

    /// Compares the database's rows with the writes, and with each copy.
    private func judge(_ copies: [DrillDevice], answered: [Int], _ found: inout Found) async throws {
        // A client that waits for an answer gets it soon.
        var isQuiet = false
        var before: [Int] = []
        while !isQuiet {
            try await pause(.milliseconds(500))
            let now = writers.map { $0.log.withLock { $0.acknowledged.count } }
            (isQuiet, before) = (now == before, now)
        }
        for device in copies { try await device.settle() }
        let notes = try await pair.rows(
            "SELECT id, body ->> 'text' FROM sync_record WHERE collection = 'notes' AND NOT deleted")
        let counts = Dictionary(notes.map { ($0[1], 1) }, uniquingKeysWith: +)
        found.stored = notes.count
        found.doubled = counts.filter { $0.value > 1 }.keys.sorted()
        for device in devices {
            found.lostOfDevices += device.written.filter { counts[$0] == nil }
            found.written += device.written.count
        }
        for (writer, start) in zip(writers, answered) {
            let log = writer.log.withLock { $0 }
            found.answered += log.acknowledged.count - start
            found.lostOfWriters += log.acknowledged[start...].filter { counts[$0] == nil }.count
            found.rejected += log.rejected
            found.troubles.merge(log.troubles, uniquingKeysWith: +)
        }
        var ofWriter: [String: Int] = [:]
        for text in counts.keys { ofWriter[String(text.prefix { $0 != " " }), default: 0] += 1 }
        let tallies = try await pair.rows(
            "SELECT body ->> 'name', body ->> 'count' FROM sync_record WHERE collection = 'tallies'")
        for tally in tallies where Int(tally[1]) != ofWriter[tally[0], default: 0] {
            found.doubled.append("tally of \(tally[0]): \(tally[1]) for \(ofWriter[tally[0], default: 0])")
        }
        let ids = Set(notes.map { $0[0] })
        for device in copies {
            let held = Set(
                try await device.store.repository(DrillGround.Note.self).readAll().map { $0.id.uuidString.lowercased() }
            )
            if held != ids {
                found.different.append(
                    "\(device.name): \(held.subtracting(ids).count) more, \(ids.subtracting(held).count) less")
            }
        }
    }
}
