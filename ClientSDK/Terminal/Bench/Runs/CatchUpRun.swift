import NIOCore
import TidemarkModel
import TidemarkWire

/// Measures the catch-up of a client that was away, over its socket and with acknowledgements.
struct CatchUpRun {
    static let loaders = 8
    static let pushMax = 100
    static let loadingMax: TimeAmount = .seconds(300)
    static let pullingMax: TimeAmount = .seconds(120)

    var records = 100_000
    var clients = 1
    var textBytes = 100

    func run(on target: LoadTarget) async throws -> BenchReport {
        let ground = target.ground
        let conversation = LoadTarget.newClient()
        let loaders = (0..<Self.loaders).map { "bench-writer-\($0)" }
        let readers = (0..<clients).map { Reader(user: "bench-reader-\($0)", client: LoadTarget.newClient()) }
        try await Conversations.make(
            [.init(id: conversation, members: loaders + readers.map(\.user))], at: target)
        let places = try await places(of: readers, at: target)
        let crew = try await ground.make { LoadCrew(ground) }
        let seed = UInt64.random(in: 0 ... .max)
        let (records, textBytes) = (Int64(records), textBytes)
        try await crew.openPublishers(Self.loaders, on: ground) { index in
            var seeds = SplitMix(seed: seed &+ UInt64(index))
            let share = records / Int64(Self.loaders) + (Int64(index) < records % Int64(Self.loaders) ? 1 : 0)
            return Publisher(
                hello: try target.hello(loaders[index]),
                template: PushTemplate(conversation: conversation, seed: seeds.next(), textBytes: textBytes),
                plan: .init(inFlight: 4 * Self.pushMax, pushMax: Self.pushMax, transactionsMax: share))
        }
        let began = try await ground.run {
            for publisher in crew.value.publishers { publisher.start() }
            return NIODeadline.now()
        }
        try await crew.wait(on: ground, for: "loading the records", atMost: Self.loadingMax) { crew in
            crew.publishers.allSatisfy(\.isDone)
        }
        let loading = NIODeadline.now() - began
        try await ground.run { crew.value.disband() }

        let fromMemory = try await pull(readers, from: places, connection: 2, at: target)
        let again = try await target.restarted()
        let fromStore = try await pull(readers, from: places, connection: 3, at: again)
        try await again.end()
        return report(loading: loading, fromMemory: fromMemory, fromStore: fromStore)
    }

    private struct Reader: Sendable {
        let user: String
        let client: ClientID
    }

    /// The position of a reader before the load.
    private struct Place: Sendable {
        let cursor: String
        let scopes: [HeldScope]
    }

    /// Connects every reader once, before there is anything to read.
    private func places(of readers: [Reader], at target: LoadTarget) async throws -> [Place] {
        let ground = target.ground
        let crew = try await ground.make { LoadCrew(ground) }
        try await crew.openSubscribers(readers.count, on: ground) { index in
            let reader = readers[index]
            return Subscriber(
                hello: try target.hello(reader.user, client: reader.client, isNew: true, connection: 1),
                measuresAge: false)
        }
        return try await ground.run {
            let welcomes = crew.value.subscribers.map(\.welcome)
            crew.value.disband()
            return try welcomes.map { bytes in
                guard case .welcome(let welcome) = try ServerMessage.decode(bytes) else {
                    throw BenchError("the server did not welcome a reader")
                }
                return Place(
                    cursor: welcome.cursor,
                    scopes: welcome.added.map { HeldScope(scope: $0.scope, since: $0.since) })
            }
        }
    }

    private func pull(
        _ readers: [Reader], from places: [Place], connection: Int64, at target: LoadTarget
    ) async throws -> Double {
        let ground = target.ground
        let records = records
        let crew = try await ground.make { LoadCrew(ground) }
        let began = NIODeadline.now()
        try await crew.openSubscribers(readers.count, on: ground) { index in
            let (reader, place) = (readers[index], places[index])
            return Subscriber(
                hello: try target.hello(
                    reader.user, client: reader.client, isNew: false, connection: connection, cursor: place.cursor,
                    scopes: place.scopes),
                measuresAge: false)
        }
        try await crew.wait(on: ground, for: "catching up", atMost: Self.pullingMax) { crew in
            crew.subscribers.allSatisfy { $0.isConsistent && $0.delivered >= records }
        }
        let elapsed = NIODeadline.now() - began
        let delivered = try await ground.run {
            let delivered = crew.value.subscribers.reduce(0) { $0 + $1.delivered }
            crew.value.disband()
            return delivered
        }
        guard delivered == records * readers.count else {
            throw BenchError("\(delivered) records came, not \(records * readers.count)")
        }
        return Double(delivered) / elapsed.seconds
    }

    private func report(loading: TimeAmount, fromMemory: Double, fromStore: Double) -> BenchReport {
        var report = BenchReport("catchup")
        report.note("records", .integer(Int64(records)), "records")
        report.note("clients", .integer(Int64(clients)), "clients at once")
        report.add("load_per_s", Double(records) / loading.seconds, "loaded before, writes a second")
        report.add("warm_records_per_s", fromMemory, "records a second, server warm")
        report.add("records_per_s", fromStore, "records a second, server just started")
        return report
    }
}
