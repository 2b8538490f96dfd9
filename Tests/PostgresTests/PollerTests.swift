import Foundation
import Testing

@testable import TidemarkPostgres

@Suite struct PollerTests {
    /// Two ends of one connection, closed with the value.
    private final class Pair {
        private(set) var near: CInt = -1
        private(set) var far: CInt = -1

        init() throws {
            var ends: [CInt] = [-1, -1]
            #if canImport(Darwin)
            let stream = SOCK_STREAM
            #else
            let stream = CInt(SOCK_STREAM.rawValue)
            #endif
            guard socketpair(AF_UNIX, stream, 0, &ends) == 0 else { throw POSIXError(.EMFILE) }
            (near, far) = (ends[0], ends[1])
        }

        deinit { closeBoth() }

        func sendToNear() { #expect(write(far, "x", 1) == 1) }

        func closeFar() {
            if far >= 0 { close(far) }
            far = -1
        }

        func closeBoth() {
            closeFar()
            if near >= 0 { close(near) }
            near = -1
        }
    }

    private func ready(_ poller: inout Poller, atMost milliseconds: CInt = 0) -> [UInt64] {
        var tokens: [UInt64] = []
        poller.wait(atMost: milliseconds) { tokens.append($0) }
        return tokens
    }

    @Test func `a readable socket is reported under its token until it was read, and no other`() throws {
        let pairs = try (0..<12).map { _ in try Pair() }
        var poller = Poller()
        for (index, pair) in pairs.enumerated() { poller.add(pair.near, token: UInt64(index) + 100) }
        #expect(ready(&poller).isEmpty)
        pairs[3].sendToNear()
        pairs[11].sendToNear()
        #expect(ready(&poller, atMost: 60_000) == [103, 111])
        #expect(ready(&poller, atMost: 60_000) == [103, 111])
        var byte: UInt8 = 0
        #expect(read(pairs[3].near, &byte, 1) == 1)
        #expect(ready(&poller, atMost: 60_000) == [111])
    }

    @Test func `that a socket can be written is reported as long as it is asked for`() throws {
        let pair = try Pair()
        var poller = Poller()
        poller.add(pair.near, token: 1)
        #expect(ready(&poller).isEmpty)
        poller.setWatchesWriting(true, token: 1)
        #expect(ready(&poller, atMost: 60_000) == [1])
        poller.setWatchesWriting(false, token: 1)
        #expect(ready(&poller).isEmpty)
        // Nothing has this token.
        poller.setWatchesWriting(true, token: 2)
        #expect(ready(&poller).isEmpty)
    }

    @Test func `a connection that its peer has closed is reported, and one that this process has closed`() throws {
        let (left, closed) = (try Pair(), try Pair())
        var poller = Poller()
        poller.add(left.near, token: 1)
        left.closeFar()
        #expect(ready(&poller, atMost: 60_000) == [1])
        // No other test may open a file here in between, which would get the number of the closed one: a number beyond all.
        poller.add(CInt.max, token: 2)
        poller.add(closed.near, token: 3)
        #expect(ready(&poller, atMost: 60_000) == [1, 2])
        poller.remove(token: 1)
        poller.remove(token: 2)
        #expect(ready(&poller).isEmpty)
    }

    @Test func `a removed socket is not reported, though a new one has its number`() throws {
        let pair = try Pair()
        var poller = Poller()
        poller.add(pair.near, token: 1)
        pair.sendToNear()
        poller.remove(token: 1)
        #expect(ready(&poller).isEmpty)
        poller.add(pair.near, token: 2)
        #expect(ready(&poller, atMost: 60_000) == [2])
        poller.remove(token: 1)
        #expect(ready(&poller, atMost: 60_000) == [2])
    }
}
