import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Two files with one client id, of which neither writes.
@Suite struct ReplacementTests {
    /// Connects under these numbers, and loses each connection since the client connected again.
    private func bench(connections: [Int64], pause: Milliseconds = 0) -> MachineBench {
        var bench = MachineBench()
        bench.on(.start)
        for number in connections {
            bench.connect(connection: number)
            bench.on(.closed(code: 4409, reason: "the client connected again"))
            bench.pass(20_000)
            bench.now += pause
        }
        return bench
    }

    @Test func `a client whose place is taken again and again takes an id of its own`() {
        #expect(bench(connections: [5, 6]).forks.isEmpty)
        #expect(bench(connections: [5, 6, 7]).forks == [true])
        #expect(bench(connections: [5, 6, 7, 8, 9]).forks == [true])
    }

    @Test func `a process keeps its id where another one of the same file takes its place`() {
        #expect(bench(connections: [5, 7, 9, 11, 13, 15]).forks.isEmpty)
    }

    @Test func `places that are taken now and then mean nothing`() {
        #expect(bench(connections: [5, 6, 7, 8, 9], pause: 400_000).forks.isEmpty)
    }
}
