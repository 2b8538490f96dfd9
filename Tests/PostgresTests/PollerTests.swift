import Foundation
import Testing

@testable import TidemarkPostgres

@Suite struct PollerTests {
    /// A pipe, closed with the value.
    private final class Pipe {
        let reading: CInt
        private(set) var writing: CInt

        init() throws {
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
            (reading, writing) = (ends[0], ends[1])
        }

        deinit {
            endWriting()
            close(reading)
        }

        func send() { #expect(write(writing, "x", 1) == 1) }

        func endWriting() {
            if writing >= 0 { close(writing) }
            writing = -1
        }
    }

    private func ready(_ poller: inout Poller, atMost milliseconds: CInt = 0) -> [UInt64] {
        var tokens: [UInt64] = []
        poller.wait(atMost: milliseconds) { tokens.append($0) }
        return tokens
    }

    @Test func `a readable socket is reported with its token until it is read, and no other`() throws {
        let pipes = try (0..<12).map { _ in try Pipe() }
        var poller = Poller()
        for (index, pipe) in pipes.enumerated() { poller.add(pipe.reading, token: UInt64(index) + 100) }
        #expect(ready(&poller).isEmpty)
        pipes[3].send()
        pipes[11].send()
        #expect(ready(&poller, atMost: 60_000) == [103, 111])
        #expect(ready(&poller, atMost: 60_000) == [103, 111])
        var byte: UInt8 = 0
        #expect(read(pipes[3].reading, &byte, 1) == 1)
        #expect(ready(&poller, atMost: 60_000) == [111])
    }

    @Test func `a writable socket is reported as long as that is requested`() throws {
        let pipe = try Pipe()
        var poller = Poller()
        poller.add(pipe.writing, token: 1)
        #expect(ready(&poller).isEmpty)
        poller.setWatchesWriting(true, token: 1)
        #expect(ready(&poller, atMost: 60_000) == [1])
        poller.setWatchesWriting(false, token: 1)
        #expect(ready(&poller).isEmpty)
        // No socket has this token.
        poller.setWatchesWriting(true, token: 2)
        #expect(ready(&poller).isEmpty)
    }

    @Test func `a connection that its peer has closed is reported, and one that this process has closed`() throws {
        let left = try Pipe()
        var poller = Poller()
        poller.add(left.reading, token: 1)
        left.endWriting()
        #expect(ready(&poller, atMost: 60_000) == [1])
        // Another test may get the number of a file that is closed: this one is beyond all numbers.
        poller.add(.max, token: 2)
        #expect(ready(&poller, atMost: 60_000) == [1, 2])
        poller.remove(token: 1)
        poller.remove(token: 2)
        #expect(ready(&poller).isEmpty)
    }

    @Test func `a removed socket is not reported, though a new one has its number`() throws {
        let pipe = try Pipe()
        var poller = Poller()
        poller.add(pipe.reading, token: 1)
        pipe.send()
        poller.remove(token: 1)
        #expect(ready(&poller).isEmpty)
        poller.add(pipe.reading, token: 2)
        #expect(ready(&poller, atMost: 60_000) == [2])
        poller.remove(token: 1)
        #expect(ready(&poller, atMost: 60_000) == [2])
    }
}
