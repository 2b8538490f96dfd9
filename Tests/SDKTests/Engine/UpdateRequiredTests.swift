import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// An app that the server's operator has ended waits for its update, and keeps all its writes.
@Suite struct UpdateRequiredTests {
    private static let hour: Milliseconds = 3_600_000

    /// A machine with a write to send, whose app is refused as too old.
    private func ended(_ reason: String = "2.4: older versions are not served") -> MachineBench {
        var bench = MachineBench()
        bench.outbox = [1]
        bench.on(.start)
        bench.on(.opened(token: "t", start: MachineBench.start))
        bench.on(.closed(code: 4427, reason: reason))
        return bench
    }

    @Test func `its status names the minimal version, and is neither offline nor an error`() throws {
        let bench = ended()
        guard case .waiting(_, let reason)? = bench.phases.last else {
            Issue.record("\(bench.phases)")
            return
        }
        #expect(reason.code == .updateRequired && reason.minimumApp == "2.4")
        var status = SyncStatus(connection: .connecting, lastSync: nil)
        status.connection = try #require(bench.phases.last)
        status.follow()
        #expect(status.activity == .updateRequired(minimum: "2.4"))
    }

    @Test func `a reason without a version is no version`() {
        for reason in ["", "update", String(repeating: "9", count: 300) + ": x"] {
            guard case .waiting(_, let failure)? = ended(reason).phases.last else {
                Issue.record("not waiting")
                continue
            }
            #expect(failure.code == .updateRequired)
            #expect(failure.minimumApp?.utf8.count ?? 99 <= 32)
        }
    }

    @Test func `the server is tried again after hours, neither before nor when a network returns`() {
        var bench = ended()
        for _ in 0..<100 {
            bench.pass(Self.hour / 60)
            bench.on(.network(.changed))
            bench.on(.wrote)
        }
        #expect(bench.openings.count == 1)
        bench.pass(3 * Self.hour)
        let wait = bench.openings.count > 1 ? bench.openings[1] - bench.openings[0] : 0
        #expect((2 * Self.hour...4 * Self.hour).contains(wait))
    }

    @Test func `a round ends at once, without a request`() {
        var bench = ended()
        bench.on(.sync(round: 1))
        #expect(bench.ended == [1] && bench.openings.count == 1)
    }

    @Test func `devices come back at different times`() {
        let waits = (UInt64(1)...20).map { seed -> Int64 in
            var backoff = Backoff(timing: EngineTiming(), seed: seed)
            return backoff.spread(EngineTiming().updateRetry)
        }
        #expect(waits.allSatisfy { (2 * Self.hour...4 * Self.hour).contains($0) })
        #expect(Set(waits.map { $0 / (Self.hour / 4) }).count > 4)
    }

    @Test
    func
        `a connection that is ended while a write is on its way keeps the write, and sends it when it is served again`()
    {
        var bench = MachineBench()
        bench.outbox = [1]
        bench.on(.start)
        bench.connect()
        #expect(bench.pushes.count == 1)
        bench.on(.closed(code: 4427, reason: "2.4: x"))
        #expect(bench.withheld.isEmpty)
        bench.pass(5 * Self.hour)
        bench.connect()
        #expect(bench.pushes.count == 2 && bench.pushes.last?.first == 1)
    }
}
