import NIOCore
import Testing

@testable import TidemarkEdge

/// The rules that `FrameParserTests` checks one by one, as seen by a peer on a real connection.
@Suite(.timeLimit(.minutes(5))) struct ConformanceTests {
    static let table: [(String, [UInt8], UInt16)] = [
        ("not masked", ClientFrames.frame(1, [65], isMasked: false), 1002),
        ("reserved bit", ClientFrames.frame(1, [65], reserved: 4), 1002),
        ("reserved opcode", ClientFrames.frame(3, []), 1002),
        ("long ping", ClientFrames.frame(9, .init(repeating: 0, count: 126)), 1002),
        ("long close", ClientFrames.frame(8, .init(repeating: 3, count: 126)), 1002),
        ("fragmented ping", ClientFrames.frame(9, [], isFinal: false), 1002),
        ("continuation first", ClientFrames.frame(0, [65]), 1002),
        ("binary", ClientFrames.frame(2, [1]), 1003),
        ("not UTF-8", ClientFrames.frame(1, [0xFF, 0xFE]), 1007),
        ("1 MiB and a byte announced", ClientFrames.announcement(1, length: 1 << 20 + 1), 1009),
        ("1 TB announced", ClientFrames.announcement(1, length: 1 << 40) + .init(repeating: 0, count: 100), 1009),
        (
            "65 fragments",
            ClientFrames.text("", isFinal: false)
                + (0..<64).flatMap { _ in ClientFrames.frame(0, [65], isFinal: false) }, 1009
        ),
        ("close without code's second byte", ClientFrames.frame(8, [3]), 1002),
        ("close 1006", ClientFrames.close(1006), 1002),
        ("close 1000", ClientFrames.close(1000, Array("bye".utf8)), 1000),
        ("close 4401", ClientFrames.close(4401), 4401),
        ("ping flood", (0..<121).flatMap { _ in ClientFrames.frame(10, []) }, 1008),
    ]

    @Test(arguments: table.indices)
    func `a peer gets the close code and sees the end`(_ row: Int) async throws {
        let (name, bytes, code) = Self.table[row]
        // The end must come from the server's own step, not from the deadline that would clean up after it.
        var limits = EdgeLimits()
        limits.closeDeadline = .seconds(300)
        try await EdgeServer.running(limits) { server in
            try await RawPeer.upgraded(on: server.port) { peer in
                try await peer.send(bytes)
                let answer = try await peer.readToEnd()
                #expect(ClientFrames.code(ofClose: answer) == code, "\(name): \(answer)")
                #expect(answer.count == 2 + Int(answer.dropFirst().first ?? 0), "nothing follows the close frame")
            }
        }
    }

    @Test func `a close frame without code is answered in kind`() async throws {
        try await EdgeServer.running { server in
            try await RawPeer.upgraded(on: server.port) { peer in
                try await peer.send(ClientFrames.close(nil))
                #expect(try await peer.readToEnd() == [0x88, 0])
            }
        }
    }

    @Test func `a ping between fragments is answered before the message`() async throws {
        try await EdgeServer.running { server in
            try await RawPeer.upgraded(on: server.port) { peer in
                try await peer.send(
                    ClientFrames.text("hel", isFinal: false) + ClientFrames.frame(9, [1, 2])
                        + ClientFrames.frame(0, Array("lo".utf8)))
                #expect(try await peer.read(4) == [0x8A, 2, 1, 2])
                #expect(try await peer.read(7) == [0x81, 5] + Array("hello".utf8))
            }
        }
    }

    @Test(arguments: [125, 126, 65_535, 65_536, 1 << 20])
    func `messages of every length form come back whole`(_ length: Int) async throws {
        try await EdgeServer.running { server in
            try await RawPeer.upgraded(on: server.port) { peer in
                let payload = (0..<length).map { UInt8(97 + $0 % 26) }
                try await peer.send(ClientFrames.frame(1, payload))
                let head = length < 126 ? 2 : length < 65_536 ? 4 : 10
                let answer = try await peer.read(head + length)
                #expect(Array(answer.dropFirst(head)) == payload)
            }
        }
    }

    @Test func `a peer that ends its half is closed`() async throws {
        let (events, continuation) = AsyncStream<RecordingOwner.Event>.makeStream()
        try await EdgeServer.running(owner: { _ in RecordingOwner(continuation) }) { server in
            try await RawPeer.upgraded(on: server.port) { peer in
                peer.finish()
                let rest = try await peer.readToEnd()
                #expect(rest == [])
            }
            #expect(await events.first { $0 == .closed } == .closed)
        }
    }

    @Test func `nothing is delivered or sent after the owner closes`() async throws {
        let (events, continuation) = AsyncStream<RecordingOwner.Event>.makeStream()
        let owner: @Sendable (any EventLoop) -> any SocketOwner = { _ in
            RecordingOwner(continuation) { socket, event in
                guard event == .received("go") else { return }
                socket.close(code: 4403, reason: String(repeating: "é", count: 100))
                socket.write(WebSocketFraming.text(Array("late".utf8)))
                socket.flush()
            }
        }
        try await EdgeServer.running(owner: owner) { server in
            try await RawPeer.upgraded(on: server.port) { peer in
                try await peer.send(ClientFrames.text("go") + ClientFrames.text("more") + ClientFrames.close(4403))
                let answer = try await peer.readToEnd()
                #expect(ClientFrames.code(ofClose: answer) == 4403)
                // 61 characters of two bytes fit, and the frame is the last thing sent.
                #expect(answer.count == 2 + 2 + 122)
            }
        }
        continuation.finish()
        let rest = await events.reduce(into: []) { $0.append($1) }
        #expect(rest.dropFirst() == [.received("go"), .closed])
    }
}
