import NIOCore
import TidemarkModel

/// Measures acknowledged durable writes per second. Each writer keeps a number of transactions in flight, and sends as
/// many as are settled when it is notified.
struct WritesRun {
    /// The time before the measurement, for the caches of server and database.
    static let warmUp: TimeAmount = .seconds(1)

    var writers = 256
    /// The writers of one conversation: each write is delivered to as many members.
    var sharing = 1
    /// The transactions of each writer that wait for their settlement at the same time.
    var inFlight = 1
    var seconds = 8
    var textBytes = 100

    func run(on target: LoadTarget) async throws -> BenchReport {
        let ground = target.ground
        let conversations = try await makeConversations(target)
        let crew = try await ground.make { LoadCrew(ground) }
        let seed = UInt64.random(in: 0 ... .max)
        let (textBytes, sharing, inFlight) = (textBytes, sharing, inFlight)
        try await crew.openPublishers(writers, on: ground) { index in
            let id = conversations[index / sharing]
            var seeds = SplitMix(seed: seed &+ UInt64(index))
            return Publisher(
                hello: try target.hello(Self.user(index)),
                template: PushTemplate(conversation: id, seed: seeds.next(), textBytes: textBytes),
                plan: .init(inFlight: inFlight, pushMax: inFlight))
        }
        try await ground.run { for publisher in crew.value.publishers { publisher.start() } }
        try await ground.pause(Self.warmUp)
        let started = try await ground.run {
            for publisher in crew.value.publishers { publisher.beginMeasuring() }
            return NIODeadline.now()
        }
        try await ground.pause(.seconds(Int64(seconds)))
        let (acknowledged, latencies, elapsed, failure) = try await ground.run {
            let elapsed = NIODeadline.now() - started
            var acknowledged: Int64 = 0
            for publisher in crew.value.publishers {
                publisher.stop()
                acknowledged += publisher.acknowledged
            }
            let latencies = LatencyLog(joining: crew.value.publishers.map(\.latencies))
            return (acknowledged, latencies, elapsed, crew.value.failure)
        }
        try await ground.run { crew.value.disband() }
        if let failure { throw BenchError(failure) }
        return report(Double(acknowledged) / elapsed.seconds, latencies)
    }

    private func report(_ rate: Double, _ latencies: LatencyLog) -> BenchReport {
        var report = BenchReport("writes")
        report.note("writers", .integer(Int64(writers)), "writers")
        report.note("sharing", .integer(Int64(sharing)), "of one conversation")
        report.note("in_flight", .integer(Int64(inFlight)), "in flight for each writer")
        report.note("seconds", .integer(Int64(seconds)), "seconds")
        report.add("writes_per_s", rate, "acknowledged writes a second")
        report.add(latencies, "write → settled")
        return report
    }

    private static func user(_ index: Int) -> String { "bench-writer-\(index)" }

    private func makeConversations(_ target: LoadTarget) async throws -> [LocalID] {
        let plans = stride(from: 0, to: writers, by: sharing).map { start in
            Conversations.Plan(
                id: LoadTarget.newClient(),
                members: (start..<min(start + sharing, writers)).map(Self.user))
        }
        try await Conversations.make(plans, at: target)
        return plans.map(\.id)
    }
}

extension TimeAmount {
    /// The time as a number of seconds, for rates.
    var seconds: Double { Double(nanoseconds) / 1e9 }
}
