import NIOCore
import TidemarkModel

/// Measures deliveries to many subscribers of one conversation: as many as possible, or the age of each at a given
/// rate.
struct FanOutRun {
    static let warmUp: TimeAmount = .seconds(1)
    /// The interval at which a paced run sends the writes that are due.
    static let pace: TimeAmount = .milliseconds(1)

    var subscribers = 500
    var writers = 32
    var seconds = 8
    /// The writes per second over all writers; `nil` writes as fast as they are settled.
    var rate: Int?
    var textBytes = 100

    func run(on target: LoadTarget) async throws -> BenchReport {
        let ground = target.ground
        let conversation = LoadTarget.newClient()
        let readers = (0..<subscribers).map { "bench-reader-\($0)" }
        let authors = (0..<writers).map { "bench-writer-\($0)" }
        try await Conversations.make([.init(id: conversation, members: readers + authors)], at: target)
        let crew = try await ground.make { LoadCrew(ground) }
        let isPaced = rate != nil
        try await crew.openSubscribers(subscribers, on: ground) { index in
            Subscriber(hello: try target.hello(readers[index]), measuresAge: isPaced)
        }
        let seed = UInt64.random(in: 0 ... .max)
        let textBytes = textBytes
        try await crew.openPublishers(writers, on: ground) { index in
            var seeds = SplitMix(seed: seed &+ UInt64(index))
            return Publisher(
                hello: try target.hello(authors[index]),
                template: PushTemplate(conversation: conversation, seed: seeds.next(), textBytes: textBytes),
                plan: .init(inFlight: isPaced ? 10 : 1, isPaced: isPaced))
        }
        try await start(crew, on: ground)
        try await ground.pause(Self.warmUp)
        let started = try await ground.run {
            for subscriber in crew.value.subscribers { subscriber.beginMeasuring() }
            for publisher in crew.value.publishers { publisher.beginMeasuring() }
            return NIODeadline.now()
        }
        try await ground.pause(.seconds(Int64(seconds)))
        let outcome = try await ground.run { Outcome(crew.value, since: started) }
        try await ground.run { crew.value.disband() }
        if let failure = outcome.failure { throw BenchError(failure) }
        return report(outcome)
    }

    /// Starts the writers; a paced run spreads its writes over them in turn.
    private func start(_ crew: NIOLoopBound<LoadCrew>, on ground: LoadGround) async throws {
        let rate = rate
        try await ground.run {
            for publisher in crew.value.publishers { publisher.start() }
            guard let rate else { return }
            let began = NIODeadline.now()
            let sending = NIOLoopBoundBox(0, eventLoop: ground.loop)
            ground.loop.scheduleRepeatedTask(initialDelay: Self.pace, delay: Self.pace) { task in
                let publishers = crew.value.publishers
                guard !publishers.isEmpty else { return task.cancel() }
                let due = Int((NIODeadline.now() - began).seconds * Double(rate))
                while sending.value < due {
                    publishers[sending.value % publishers.count].push()
                    sending.value += 1
                }
            }
        }
    }

    /// The counts between the warm-up and the end.
    private struct Outcome: Sendable {
        let deliveries: Int
        let frames: Int
        let writes: Int64
        let elapsed: TimeAmount
        let ages: LatencyLog
        let writeAges: LatencyLog
        let settlements: LatencyLog
        let failure: String?

        init(_ crew: LoadCrew, since started: NIODeadline) {
            elapsed = NIODeadline.now() - started
            for publisher in crew.publishers { publisher.stop() }
            deliveries = crew.subscribers.reduce(0) { $0 + $1.delivered }
            frames = crew.subscribers.reduce(0) { $0 + $1.frames }
            writes = crew.publishers.reduce(0) { $0 + $1.acknowledged }
            ages = LatencyLog(joining: crew.subscribers.map(\.ages))
            writeAges = LatencyLog(joining: crew.subscribers.map(\.writeAges))
            settlements = LatencyLog(joining: crew.publishers.map(\.latencies))
            failure = crew.failure
        }
    }

    private func report(_ outcome: Outcome) -> BenchReport {
        var report = BenchReport("fanout")
        report.note("subscribers", .integer(Int64(subscribers)), "subscribers")
        report.note("writers", .integer(Int64(writers)), "writers")
        if let rate { report.note("rate", .integer(Int64(rate)), "writes a second asked for") }
        report.add("writes_per_s", Double(outcome.writes) / outcome.elapsed.seconds, "acknowledged writes a second")
        report.add("deliveries_per_s", Double(outcome.deliveries) / outcome.elapsed.seconds, "deliveries a second")
        report.add("frames_per_s", Double(outcome.frames) / outcome.elapsed.seconds, "frames a second")
        if rate != nil {
            report.add(outcome.ages, "server's stamp → delivered")
            report.add(outcome.writeAges, "write → delivered", key: "write_")
        } else {
            report.add(outcome.settlements, "write → settled")
        }
        return report
    }
}
