import NIOCore
import TidemarkModel

/// Measures the memory of an open but silent connection.
struct IdleRun {
    /// The number of sockets opened before the first reading, so that the server's one-time allocations are not
    /// counted.
    static let warmUp = 100
    /// The pause before each reading, in which the server releases what it needed only for the handshakes.
    static let settling: TimeAmount = .seconds(2)

    var connections = 5_000

    func run(on target: LoadTarget) async throws -> BenchReport {
        let ground = target.ground
        let crew = try await ground.make { LoadCrew(ground) }
        try await open(Self.warmUp, named: "bench-early", crew, target)
        try await ground.pause(Self.settling)
        let before = try target.serverMemory()
        let began = NIODeadline.now()
        try await open(connections, named: "bench-idle", crew, target)
        let opening = NIODeadline.now() - began
        try await ground.pause(Self.settling)
        let after = try target.serverMemory()
        let failure = try await ground.run { crew.value.failure }
        try await ground.run { crew.value.disband() }
        if let failure { throw BenchError(failure) }
        var report = BenchReport("idle")
        report.note("connections", .integer(Int64(connections)), "connections")
        report.add("opened_per_s", Double(connections) / opening.seconds, "opened and welcomed a second")
        report.add("memory_before", Double(before), "server memory before, bytes")
        report.add("memory_after", Double(after), "server memory after, bytes")
        report.add("bytes_per_connection", Double(after - before) / Double(connections), "bytes a connection")
        return report
    }

    private func open(
        _ count: Int, named prefix: String, _ crew: NIOLoopBound<LoadCrew>, _ target: LoadTarget
    ) async throws {
        try await crew.openSubscribers(count, on: target.ground) { index in
            Subscriber(hello: try target.hello("\(prefix)-\(index)"), measuresAge: false)
        }
    }
}
