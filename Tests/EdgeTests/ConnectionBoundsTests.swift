import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import TidemarkEdge

@Suite(.timeLimit(.minutes(5))) struct ConnectionBoundsTests {
    @Test func `a connection beyond the bound is closed unread, and a free slot can be used`() async throws {
        var limits = EdgeLimits()
        limits.connectionsMax = 2
        limits.probesMax = 0
        try await EdgeServer.running(limits) { server in
            try await RawPeer.upgraded(on: server.port) { first in
                try await RawPeer.upgraded(on: server.port) { _ in
                    try await RawPeer.connected(to: server.port) { peer in
                        let rest = try await peer.readToEnd()
                        #expect(rest == [])
                    }
                    #expect(server.edge.counts == EdgeCounts(open: 2, unauthenticated: 2, refused: 1))
                }
                try await first.send(ClientFrames.text("a"))
                #expect(try await first.read(3) == [0x81, 1, 97])
            }
        }
    }

    @Test func `strangers of one address are bounded, known peers are not`() async throws {
        var limits = EdgeLimits()
        limits.unauthenticatedPerAddressMax = 1
        limits.probesMax = 0
        let (events, continuation) = AsyncStream<RecordingOwner.Event>.makeStream()
        let owner: @Sendable (any EventLoop) -> any SocketOwner = { _ in
            RecordingOwner(continuation) { socket, event in
                guard case .received = event else { return }
                socket.markAuthenticated()
                if socket.bearerToken != nil { Issue.record("the token is kept") }
            }
        }
        try await EdgeServer.running(limits, owner: owner) { server in
            try await RawPeer.upgraded(on: server.port) { known in
                try await RawPeer.connected(to: server.port) { peer in
                    let rest = try await peer.readToEnd()
                    #expect(rest == [])
                }
                try await known.send(ClientFrames.text("I am"))
                _ = await events.first { $0 == .received("I am") }
                try await RawPeer.upgraded(on: server.port) { _ in
                    #expect(server.edge.counts == EdgeCounts(open: 2, unauthenticated: 1, refused: 1))
                }
            }
        }
    }

    @Test(arguments: [
        ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.2", false),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true), ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
        ("::ffff:10.0.0.1", "10.0.0.1", true), ("::ffff:10.0.0.1", "::ffff:10.0.0.2", false),
    ])
    func `one network shares one bound`(_ first: String, _ second: String, _ isShared: Bool) throws {
        var limits = EdgeLimits()
        limits.unauthenticatedPerAddressMax = 1
        let ledger = ConnectionLedger(limits)
        let channels = try [first, second].map { address in
            let channel = EmbeddedChannel()
            channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
            return channel
        }
        #expect(ledger.admit(channels[0]) == .everything)
        #expect(ledger.admit(channels[1]) == (isShared ? .probe : .everything))
        for channel in channels { _ = try channel.finish(acceptAlreadyClosed: true) }
        #expect(ledger.snapshot().open == 0)
        #expect(ledger.snapshot().unauthenticated == 0)
    }

    @Test func `a connection waiting for its next call is counted for its address again, and closed beyond the bound`()
        async throws
    {
        var limits = EdgeLimits()
        limits.unauthenticatedPerAddressMax = 1
        limits.probesMax = 0
        let ledger = ConnectionLedger(limits)
        let channels = try (0..<3).map { _ in
            let channel = EmbeddedChannel()
            channel.remoteAddress = try SocketAddress(ipAddress: "10.0.0.1", port: 1)
            return channel
        }
        for channel in channels {
            #expect(ledger.admit(channel) == .everything)
            ledger.markAuthenticated(channel)
        }
        #expect(ledger.markIdle(channels[0]))
        #expect(ledger.markIdle(channels[0]))
        #expect(!ledger.markIdle(channels[1]))
        ledger.markAuthenticated(channels[0])
        #expect(ledger.markIdle(channels[1]))
        for channel in channels { _ = try channel.finish(acceptAlreadyClosed: true) }
        #expect(ledger.snapshot().open == 0 && ledger.snapshot().unauthenticated == 0)
    }
}
