import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct StrikeTests {
    @Test func `the fifth sending in a row without an answer withholds the first transaction and no other`() {
        var bench = MachineBench()
        bench.outbox = [1, 2, 3]
        bench.on(.start)
        for attempt in 1...5 {
            bench.connect()
            #expect(bench.withheld.isEmpty, "attempt \(attempt)")
            bench.on(.closed(code: 1006, reason: "reset"))
            bench.pass(60_000)
        }
        #expect(bench.withheld == [1])
        #expect(bench.pushes.map(\.entries.count) == [3, 1, 1, 1, 1], "a suspect is sent alone")
        bench.connect()
        #expect(bench.pushes.last?.entries.count == 3)
        #expect(bench.answered.isEmpty, "silence may be an outage: the next connection sends it again")
    }

    @Test func `a write without any answer is sent again on a connection that lasts, after growing waits`() {
        var bench = MachineBench()
        bench.outbox = [1]
        bench.on(.start)
        for wait in [30_000, 60_000, 120_000] as [Milliseconds] {
            for _ in 1...5 {
                bench.connect()
                bench.on(.closed(code: 1006, reason: "reset"))
                bench.pass(30_000)
            }
            bench.outbox = []
            bench.connect()
            bench.settle(0)
            let releases = bench.releases
            bench.pass(wait - 1_000)
            #expect(bench.releases == releases)
            bench.pass(2_000)
            #expect(bench.releases == releases + 1)
            bench.outbox = [1]
            bench.on(.closed(code: 1006, reason: "reset"))
            bench.pass(30_000)
        }
        #expect(bench.withheld == [1, 1, 1])
    }

    @Test(arguments: [4400, 1009]) func `five failures are attributed to the write, and distinguished`(code: UInt16) {
        var bench = MachineBench()
        bench.outbox = [1, 2]
        bench.on(.start)
        for _ in 1...5 {
            bench.connect()
            bench.on(.closed(code: code, reason: "no"))
            bench.pass(60_000)
        }
        #expect(bench.withheld == [1] && bench.answered == [1])
    }

    @Test(arguments: [1006, 4408, 4503]) func `an outage among them is not attributed to the write`(code: UInt16) {
        var bench = MachineBench()
        bench.outbox = [1]
        bench.on(.start)
        for attempt in 1...5 {
            bench.connect()
            bench.on(.closed(code: attempt == 3 ? code : 4400, reason: "no"))
            bench.pass(60_000)
        }
        #expect(bench.withheld == [1] && bench.answered.isEmpty)
    }

    @Test func `an answer in between, or an unreachable server, costs no attempt`() {
        var bench = MachineBench()
        bench.outbox = [1, 2]
        bench.on(.start)
        for settled in [0, 0, 0, 1, 1, 1, 1] as [Int64] {
            bench.connect(settledThrough: settled)
            bench.on(.closed(code: 1006, reason: "reset"))
            for _ in 0..<10 {
                bench.on(.openFailed(SyncFailure(.unreachable, "no route")))
                bench.pass(60_000)
            }
        }
        #expect(bench.withheld.isEmpty)
        bench.connect(settledThrough: 1)
        bench.on(.closed(code: 1006, reason: "reset"))
        #expect(bench.withheld == [2])
    }

    @Test(arguments: ErrorCode.allCases)
    func `of the server's errors only those about the push are attributed to it`(_ code: ErrorCode) {
        var bench = MachineBench()
        bench.outbox = [1]
        bench.on(.start)
        bench.connect()
        for _ in 0..<8 {
            bench.receive(.error(ErrorMessage(code, "no", retryAfter: 100, settledThrough: 0)))
            bench.pass(200)
        }
        let counts: Set<ErrorCode> = [.unavailable, .forbidden, .tooLarge]
        #expect(bench.withheld == (counts.contains(code) ? [1] : []))
        #expect(bench.pushes.count == 9, "tried again each time")
    }
}
