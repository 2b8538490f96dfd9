import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import TidemarkGateway

@Suite(.timeLimit(.minutes(5))) struct BackpressureTests {
    @Test func `a peer that does not read stops the owner within the buffers' bounds, then goes on`() async throws {
        let frame = WebSocketFraming.text([UInt8](repeating: 97, count: 16 * 1024))
        let queuedBytes = Mutex(0)
        let (events, continuation) = AsyncStream<RecordingOwner.Event>.makeStream()
        // Writes as much as the socket takes when told to go: what a catch-up of a slow device does.
        let owner: @Sendable (any EventLoop) -> any SocketOwner = { _ in
            RecordingOwner(continuation) { socket, event in
                guard event == .received("go") else { return }
                while socket.isWritable {
                    queuedBytes.withLock { $0 += frame.readableBytes }
                    socket.write(frame)
                    socket.flush()
                }
            }
        }
        try await EdgeServer.running(owner: owner) { server in
            try await RawPeer.upgraded(on: server.port) { peer in
                try await peer.send(ClientFrames.text("go"))
                _ = await events.first { $0 == .writable(false) }
                let queued = queuedBytes.withLock { $0 }
                // 256 KiB here, 512 KiB in the kernel's send buffer, and what the receiver's side holds on loopback.
                #expect(queued < 8 * 1024 * 1024)
                let answer = try await peer.read(queued)
                #expect(answer.count == queued)
                #expect(await events.first { $0 == .writable(true) } == .writable(true))
            }
        }
    }
}
