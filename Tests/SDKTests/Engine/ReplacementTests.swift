import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Two files with one client id, neither of which writes.
@Suite struct ReplacementTests {
    /// Connects with these numbers, and loses each connection because the client connected elsewhere.
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

    @Test func `a client that is replaced again and again takes an id of its own`() {
        #expect(bench(connections: [5, 6]).forks.isEmpty)
        #expect(bench(connections: [5, 6, 7]).forks == [true])
        #expect(bench(connections: [5, 6, 7, 8, 9]).forks == [true])
    }

    @Test func `a process keeps its id if another process of the same file replaces it`() {
        #expect(bench(connections: [5, 7, 9, 11, 13, 15]).forks.isEmpty)
    }

    @Test func `occasional replacements mean nothing`() {
        #expect(bench(connections: [5, 6, 7, 8, 9], pause: 400_000).forks.isEmpty)
    }
}
