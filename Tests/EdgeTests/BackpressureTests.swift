import NIOCore
import NIOPosix
import Testing
import TidemarkLock

@testable import TidemarkEdge

@Suite(.timeLimit(.minutes(5))) struct BackpressureTests {
    @Test func `a peer that does not read stops the owner within the buffers' bounds, then continues`() async throws {
        let frame = WebSocketFraming.text([UInt8](repeating: 97, count: 16 * 1024))
        let queuedBytes = Lock(0)
        let (events, continuation) = AsyncStream<RecordingOwner.Event>.makeStream()
        // Writes as much as the socket accepts when triggered, like a catch-up of a slow device.
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
                // 256 KiB here, 512 KiB in the kernel's send buffer, and the receiver's buffers on loopback.
                #expect(queued < 8 * 1024 * 1024)
                let answer = try await peer.read(queued)
                #expect(answer.count == queued)
                #expect(await events.first { $0 == .writable(true) } == .writable(true))
            }
        }
    }

    @Test func `requests of a peer that does not read wait until it reads, and nothing is lost`() async throws {
        let answer = WebSocketFraming.text([UInt8](repeating: 97, count: 16 * 1024))
        let questions = 2_000
        let (events, continuation) = AsyncStream<RecordingOwner.Event>.makeStream()
        let heardWhileFull = Lock(0)
        // Answers everything, room or not.
        let owner: @Sendable (any EventLoop) -> any SocketOwner = { _ in
            RecordingOwner(continuation) { socket, event in
                guard case .received = event else { return }
                if !socket.isWritable { heardWhileFull.withLock { $0 += 1 } }
                socket.write(answer)
                socket.flush()
            }
        }
        try await EdgeServer.running(owner: owner) { server in
            try await RawPeer.upgraded(on: server.port) { peer in
                for _ in 0..<questions { try await peer.send(ClientFrames.text("more")) }
                _ = await events.first { $0 == .writable(false) }
                // Others are served meanwhile, also on the same loop.
                for _ in 0..<2 * System.coreCount {
                    try await RawPeer.upgraded(on: server.port) { other in
                        try await other.send(ClientFrames.text("one"))
                        #expect(try await other.read(answer.readableBytes).count == answer.readableBytes)
                    }
                }
                var read = 0
                while read < questions * answer.readableBytes {
                    let count = try await peer.read(answer.readableBytes).count
                    try #require(count > 0)
                    read += count
                }
                #expect(heardWhileFull.withLock { $0 } == 0)
            }
        }
    }

    @Test func `a peer that accepts nothing for long is closed, whatever it sends meanwhile`() async throws {
        var limits = EdgeLimits()
        limits.silenceMax = .milliseconds(400)
        limits.closeDeadline = .milliseconds(100)
        limits.sweepEvery = .milliseconds(20)
        let frame = WebSocketFraming.text([UInt8](repeating: 97, count: 64 * 1024))
        let (events, continuation) = AsyncStream<RecordingOwner.Event>.makeStream()
        let owner: @Sendable (any EventLoop) -> any SocketOwner = { _ in
            RecordingOwner(continuation) { socket, event in
                guard case .received = event else { return }
                while socket.isWritable {
                    socket.write(frame)
                    socket.flush()
                }
            }
        }
        try await EdgeServer.running(limits, owner: owner) { server in
            try await RawPeer.upgraded(on: server.port) { peer in
                let end = ContinuousClock.now + .seconds(20)
                // Until the server has cut the connection.
                await #expect(throws: (any Error).self) {
                    while ContinuousClock.now < end { try await peer.send(ClientFrames.text("still here")) }
                }
                #expect(await events.first { $0 == .closed } == .closed)
            }
        }
    }
}
