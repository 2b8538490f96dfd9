import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct LivenessTests {
    /// Connected, in step, and from now on without a message of the server.
    private func halfOpen(outbox: [UInt64] = []) -> MachineBench {
        var bench = MachineBench()
        bench.on(.start)
        bench.connect()
        bench.settle(0)
        bench.isAlive = false
        bench.outbox = outbox
        if !outbox.isEmpty { bench.on(.wrote) }
        return bench
    }

    @Test func `a connection that goes silent is given up and made again`() {
        var bench = halfOpen()
        bench.pass(47_000)
        #expect(bench.openings.count == 1 && bench.phases.last == .live)
        bench.pass(2_000)
        #expect(bench.closings == 1 && bench.openings.count == 2)
    }

    @Test func `with something to send it takes less time, and sent pushes are repeated`() {
        var bench = halfOpen(outbox: [1])
        #expect(bench.pushes.count == 1)
        bench.pass(21_500)
        #expect(bench.openings.count == 2)
        bench.isAlive = true
        bench.connect()
        #expect(bench.pushes.count == 2 && bench.pushes.last?.first == 1)
    }

    @Test func `a server without news for a day keeps its connection`() {
        var bench = halfOpen()
        bench.isAlive = true
        bench.pass(86_400_000)
        #expect(bench.openings.count == 1 && bench.closings == 0 && bench.phases.last == .live)
    }

    @Test func `a server that never answers a probe is not left and joined all the time`() {
        var bench = MachineBench()
        bench.isAlive = false
        bench.on(.start)
        for _ in 0..<3_600 {
            if bench.machine.link == .opening {
                bench.connect()
                bench.settle(0)
            }
            bench.pass(1_000)
        }
        #expect(bench.openings.count <= 35, "an hour")
    }

    @Test func `a push that is not answered ends the connection, whatever else arrives`() {
        var bench = MachineBench()
        bench.outbox = [1]
        bench.on(.start)
        bench.connect()
        bench.settle(0)
        for step in 0..<61 {
            #expect(bench.openings.count == 1, "\(step)")
            bench.receive(.changes(.make(from: "c", to: "c", [])))
            bench.pass(1_000)
        }
        #expect(bench.closings == 1 && bench.failures == [.unanswered])
    }

    @Test func `a page or the end of a catch-up that never arrives ends the connection`() {
        var bench = MachineBench()
        bench.on(.start)
        bench.connect()
        bench.pass(62_000)
        #expect(bench.closings == 1, "the end of the catch-up")
        bench.connect()
        bench.unfilled = [
            PageRequest(id: 0, scope: ScopeID("a"), since: 1, collection: "rooms", before: nil, limit: 9)
        ]
        bench.on(.wantsPages)
        bench.settle(0)
        bench.pass(62_000)
        #expect(bench.closings == 2 && bench.failures == [.unanswered, .unanswered])
    }

    @Test func `a round on a silent connection ends, and does not report success`() {
        var bench = halfOpen()
        bench.pass(5_000)
        bench.on(.sync(round: 1))
        #expect(bench.ended.isEmpty && bench.probes == 1)
        bench.pass(10_500)
        #expect(bench.ended == [1] && bench.failures == [.serverSilent])
    }

    @Test func `a round on a quiet connection ends with the sign of life that it requested`() {
        var bench = halfOpen()
        bench.isAlive = true
        bench.pass(5_000)
        bench.on(.sync(round: 1))
        #expect(bench.ended == [1] && bench.probes == 1)
        bench.on(.sync(round: 2))
        #expect(bench.ended == [1, 2] && bench.probes == 1)
    }

    @Test func `no round outlives a server that makes it wait`() {
        var bench = MachineBench()
        bench.outbox = [1]
        bench.on(.start)
        bench.connect()
        bench.settle(0)
        bench.receive(.error(ErrorMessage(.overloaded, "busy", retryAfter: 1_000, settledThrough: 0)))
        bench.on(.sync(round: 1))
        bench.on(.syncCollection("rooms", round: 2))
        // The server is busy for ever, a second each time.
        for _ in 0..<62 {
            bench.pass(1_000)
            bench.receive(.error(ErrorMessage(.overloaded, "busy", retryAfter: 1_000, settledThrough: 0)))
        }
        #expect(bench.ended == [1] && bench.endedOf == ["rooms 2"])
        bench.receive(.error(ErrorMessage(.overloaded, "busy", retryAfter: 60_000, settledThrough: 0)))
        bench.on(.sync(round: 3))
        #expect(bench.ended == [1, 3], "a long pause is not waited for")
    }

    @Test func `no server can keep a device away for ever`() {
        var bench = MachineBench()
        bench.outbox = [1]
        bench.on(.start)
        bench.connect()
        bench.settle(0)
        bench.receive(.error(ErrorMessage(.overloaded, "busy", retryAfter: 1 << 50, settledThrough: 0)))
        bench.pass(301_000)
        #expect(bench.pushes.count == 2)
        bench.receive(.goAway(GoAway(after: 1 << 50, reason: "bye")))
        bench.on(.closed(code: CloseCode.goingAway.rawValue, reason: "bye"))
        bench.pass(301_000)
        #expect(bench.openings.count == 2)
    }

    @Test func `a token that has expired is not requested all the time`() {
        var bench = MachineBench()
        bench.on(.start)
        bench.connect(tokenLife: -20_000)
        bench.settle(0)
        for _ in 0..<60 {
            let before = bench.refreshes
            bench.pass(1_000)
            if bench.refreshes > before { bench.on(.tokenRefreshed("the same")) }
        }
        #expect(bench.refreshes > 1 && bench.refreshes <= 6)
    }
}
