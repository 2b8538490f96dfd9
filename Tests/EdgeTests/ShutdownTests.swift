import NIOCore
import ServiceLifecycle
import Testing

@testable import TidemarkEdge

@Suite(.timeLimit(.minutes(5))) struct ShutdownTests {
    @Test func `a graceful shutdown closes sockets with 1001 and idle connections at once`() async throws {
        try await EdgeServer.running { server in
            try await RawPeer.upgraded(on: server.port) { socket in
                try await RawPeer.connected(to: server.port) { kept in
                    try await kept.send(RawPeer.request("GET /json", ["Host: localhost"]))
                    _ = try await kept.readHead()
                    _ = try await kept.read(2)
                    try await RawPeer.connected(to: server.port) { silent in
                        // An answer means that it was accepted, so that the shutdown meets all three.
                        await server.services.triggerGracefulShutdown()
                        #expect(ClientFrames.code(ofClose: try await socket.read(4)) == 1001)
                        try await socket.send(ClientFrames.close(1001))
                        _ = try await socket.readToEnd()
                        let rest = try await kept.readToEnd()
                        #expect(rest == [])
                        let none = try await silent.readToEnd()
                        #expect(none == [])
                    }
                }
            }
        }
    }

    @Test func `the owner of a draining socket sends the last message`() async throws {
        let (events, continuation) = AsyncStream<RecordingOwner.Event>.makeStream()
        let owner: @Sendable (any EventLoop) -> any SocketOwner = { _ in
            RecordingOwner(continuation) { socket, event in
                guard event == .draining else { return }
                socket.write(WebSocketFraming.text(Array("goaway".utf8)))
                socket.close(code: 4503, reason: "draining")
            }
        }
        try await EdgeServer.running(owner: owner) { server in
            try await RawPeer.upgraded(on: server.port) { socket in
                await server.services.triggerGracefulShutdown()
                #expect(try await socket.read(8) == [0x81, 6] + Array("goaway".utf8))
                #expect(ClientFrames.code(ofClose: try await socket.read(4 + 8)) == 4503)
                try await socket.send(ClientFrames.close(4503))
                let rest = try await socket.readToEnd()
                #expect(rest == [])
            }
            #expect(await events.first { $0 == .closed } == .closed)
        }
    }
}
