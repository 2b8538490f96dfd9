import Testing
import Tidemark
import TidemarkTestKit

/// The time from a network's return to two copies in step, in virtual time.
@Suite(.timeLimit(.minutes(5))) struct ReconnectTests {
    /// The time that a message takes one way.
    private static let latency = Duration.milliseconds(40)

    /// Both are offline for `outage`, and each writes ten notes; returns the time until both are in step after the
    /// return.
    private func stepTime(after outage: Duration, isNoticed: Bool, seed: UInt64) async throws -> Duration {
        let desk = try await Desk(seed: seed)
        desk.kit.faults.latency(Self.latency)
        for client in [desk.ann, desk.bob] { client.goOffline(isNoticed: isNoticed) }
        for step in 1...10 {
            try await desk.write("ann \(step)", by: desk.ann)
            try await desk.write("bob \(step)", by: desk.bob)
            await desk.kit.advance(by: outage / 10)
        }
        #expect(try desk.texts().isEmpty)
        for client in [desk.ann, desk.bob] { client.goOnline(isNoticed: isNoticed) }
        let begin = desk.kit.clock.now
        try await desk.kit.settle()
        let time = begin.duration(to: desk.kit.clock.now)
        #expect(try desk.texts().count == 20)
        try desk.kit.expectConverged()
        return time
    }

    @Test(arguments: [1, 7, 40, 600, 86_400])
    func `with the system's report both are in step within a second, their ten pending writes included`(
        _ seconds: Int
    ) async throws {
        for seed in UInt64(1)...5 {
            let time = try await stepTime(after: .seconds(seconds), isNoticed: true, seed: seed)
            #expect(time <= .seconds(1), "seed \(seed): \(time)")
        }
    }

    @Test(arguments: [1, 7, 20, 40])
    func `without it both are in step within five seconds of an outage of less than a minute`(
        _ seconds: Int
    ) async throws {
        for seed in UInt64(1)...5 {
            let time = try await stepTime(after: .seconds(seconds), isNoticed: false, seed: seed)
            #expect(time <= .seconds(5), "seed \(seed): \(time)")
        }
    }

    @Test func `a write on a live connection is acknowledged within two tenths of a second`() async throws {
        let desk = try await Desk()
        desk.kit.faults.latency(Self.latency)
        for step in 1...20 {
            let begin = desk.kit.clock.now
            try await desk.write("\(step)", by: desk.ann)
            try await desk.kit.settle()
            #expect(begin.duration(to: desk.kit.clock.now) <= .milliseconds(200))
            #expect(desk.ann.store.currentStatus.pending == 0)
        }
    }

    @Test func `a lost network is shown at once, in every phase of a connection`() async throws {
        let desk = try await Desk()
        desk.kit.faults.latency(.seconds(3))
        for pause in [0, 1_000, 4_000, 7_000, 20_000] {
            desk.ann.goOnline(isNoticed: true)
            await desk.kit.advance(by: .milliseconds(pause))
            desk.ann.goOffline(isNoticed: true)
            await desk.kit.advance(by: .zero)
            #expect(desk.ann.store.currentStatus.activity == .offline, "after \(pause) ms")
        }
    }
}
