import NIOCore
import Testing

@testable import TidemarkEdge

@Suite(.timeLimit(.minutes(5))) struct HTTPBoundsTests {
    private static let big = String(repeating: "a", count: 9 * 1024)

    static let table: [(String, String, String)] = [
        ("a long header field", "GET /json HTTP/1.1\r\nHost: localhost\r\nX-Big: \(big)\r\n\r\n", "431"),
        (
            "101 header fields",
            "GET /json HTTP/1.1\r\n" + (0...100).map { "X-\($0): a\r\n" }.joined() + "\r\n", "431"
        ),
        (
            "17 KiB of header fields",
            "GET /json HTTP/1.1\r\n" + (0..<3).map { "X-\($0): \(big.prefix(6000))\r\n" }.joined() + "\r\n", "431"
        ),
        ("garbage", "GARBAGE\r\n\r\n", "400"),
        (
            "two lengths of one body",
            "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "400"
        ),
        ("50 GB announced", "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000000000\r\n\r\n", "413"),
        ("no such route", "GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
    ]

    @Test(arguments: table.indices)
    func `a request beyond a bound is answered and ends`(_ row: Int) async throws {
        let (name, request, status) = Self.table[row]
        try await EdgeServer.running { server in
            try await RawPeer.connected(to: server.port) { peer in
                try await peer.send(request)
                peer.finish()
                let answer = String(decoding: try await peer.readToEnd(), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(name): \(answer.prefix(100))")
            }
        }
    }

    @Test func `an endless chunked body is cut off`() async throws {
        var limits = EdgeLimits()
        limits.requestBodyBytesMax = 64 * 1024
        try await EdgeServer.running(limits) { server in
            try await RawPeer.connected(to: server.port) { peer in
                try await peer.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
                let chunk = "4000\r\n" + String(repeating: "a", count: 0x4000) + "\r\n"
                for _ in 0..<5 { try await peer.send(chunk) }
                let answer = String(decoding: try await peer.readToEnd(), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 413 "))
            }
        }
    }

    @Test func `pipelined requests are both answered`() async throws {
        try await EdgeServer.running { server in
            try await RawPeer.connected(to: server.port) { peer in
                let request = RawPeer.request("GET /json", ["Host: localhost"])
                try await peer.send(request + request)
                for _ in 0..<2 {
                    #expect(try await peer.readStatus() == "200")
                    #expect(try await peer.read(2) == Array("{}".utf8))
                }
            }
        }
    }

    @Test(arguments: ["", "GET /json HTTP/1.1\r\nHo", "GET /v1/sync HTTP/1.1\r\nUpgrade: websocket\r\n"])
    func `a silent peer and half a head are closed at the deadline`(_ bytes: String) async throws {
        var limits = EdgeLimits()
        limits.headDeadline = .milliseconds(50)
        try await EdgeServer.running(limits) { server in
            try await RawPeer.connected(to: server.port) { peer in
                if !bytes.isEmpty { try await peer.send(bytes) }
                let rest = try await peer.readToEnd()
                #expect(rest == [])
            }
        }
    }

    @Test func `an unfinished body is closed at the deadline`() async throws {
        var limits = EdgeLimits()
        limits.bodyDeadline = .milliseconds(50)
        try await EdgeServer.running(limits) { server in
            try await RawPeer.connected(to: server.port) { peer in
                try await peer.send(RawPeer.request("POST /echo", ["Host: localhost", "Content-Length: 10"]) + "abc")
                let rest = try await peer.readToEnd()
                #expect(rest == [])
            }
        }
    }

    @Test func `a kept connection is closed when it idles`() async throws {
        var limits = EdgeLimits()
        limits.keepAliveIdleMax = .milliseconds(50)
        try await EdgeServer.running(limits) { server in
            try await RawPeer.connected(to: server.port) { peer in
                try await peer.send(RawPeer.request("GET /json", ["Host: localhost"]))
                #expect(try await peer.readStatus() == "200")
                #expect(try await peer.read(2) == Array("{}".utf8))
                let rest = try await peer.readToEnd()
                #expect(rest == [])
            }
        }
    }

    @Test func `each state of a connection has its own deadline`() {
        let limits = EdgeLimits()
        var state = HTTPConnectionState(now: .uptimeNanoseconds(0), limits: limits)
        let at = { (seconds: Int64) in NIODeadline.uptimeNanoseconds(0) + .seconds(seconds) }
        #expect(state.deadline == at(10))
        state.head(at: at(1))
        #expect(state.deadline == at(61))
        _ = state.requestEnd(at: at(2))
        #expect(state.deadline == at(302))
        let closes3 = state.answerEnd(at: at(3))
        #expect(!closes3)
        #expect(state.deadline == at(63))
        state.head(at: at(4))
        #expect(!state.isFirstRequest)
        // The answer may end before the request does: the body's deadline then still applies.
        let closes5 = state.answerEnd(at: at(5))
        #expect(!closes5)
        #expect(state.deadline == at(64))
        _ = state.requestEnd(at: at(6))
        #expect(state.deadline == at(66))
    }

    @Test func `received bytes give a slow peer more time, and a pause does not`() {
        var limits = EdgeLimits()
        limits.bytesPerSecondMin = 1_000
        var state = HTTPConnectionState(now: .uptimeNanoseconds(0), limits: limits)
        let at = { (seconds: Int64) in NIODeadline.uptimeNanoseconds(0) + .seconds(seconds) }
        state.head(at: at(0))
        #expect(state.deadline == at(60))
        _ = state.body(5_000, at: at(50))
        #expect(state.deadline == at(65))
        // Many bytes at once give no more than a minute without a byte.
        _ = state.body(1_000_000, at: at(60))
        #expect(state.deadline == at(120))
        _ = state.requestEnd(at: at(100))
        #expect(state.deadline == at(400))
        state.answer(7_000)
        #expect(state.deadline == at(407))
        _ = state.answerEnd(at: at(110))
        state.head(at: at(120))
        #expect(state.deadline == at(180))
        _ = state.requestEnd(at: at(121))
        #expect(state.deadline == at(421))
    }

    @Test func `a blob has a bound of its own, and no other request has it`() {
        var limits = EdgeLimits()
        limits.requestBodyBytesMax = 10
        var state = HTTPConnectionState(now: .uptimeNanoseconds(0), limits: limits)
        let now = NIODeadline.uptimeNanoseconds(1)
        state.head(at: now, bodyBytesMax: 20)
        let (isWithin, isBeyond) = (state.body(20, at: now), state.body(1, at: now))
        #expect(isWithin && !isBeyond)
        state.head(at: now)
        let (isShort, isLong) = (state.body(10, at: now), state.body(1, at: now))
        #expect(isShort && !isLong)
    }
}
