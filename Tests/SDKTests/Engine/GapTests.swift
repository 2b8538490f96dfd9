import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct GapTests {
    private func bench() -> MachineBench {
        var bench = MachineBench()
        bench.outbox = [1, 2, 3]
        bench.on(.start)
        bench.connect()
        bench.settle(2)
        return bench
    }

    private func gap(_ settled: Int64) -> ServerMessage {
        .error(ErrorMessage(.gap, "go on from \(settled + 1)", settledThrough: settled))
    }

    @Test func `a server that knows fewer transactions than it settled is greeted anew, after a wait`() {
        var bench = bench()
        var pushes = bench.pushes.count
        for _ in 0..<bench.machine.timing.gapsMax {
            bench.receive(gap(1))
            #expect(bench.machine.isStreaming)
            #expect(bench.pushes.count == pushes + 1, "it may have been of an earlier push")
            pushes += 1
        }
        bench.receive(gap(1))
        #expect(!bench.machine.isStreaming && bench.openings.count == 1)
        bench.pass(60_000)
        #expect(bench.openings.count == 2 && bench.pushes.count == pushes)
    }

    @Test func `a gap is remembered only until something is settled`() {
        var bench = bench()
        bench.outbox = Array(1...99)
        for number in Int64(3)...90 {
            for _ in 0..<10 { bench.receive(gap(1)) }
            bench.settle(number)
        }
        #expect(bench.machine.isStreaming && bench.openings.count == 1)
    }
}
