import NIOCore
import NIOEmbedded
import Testing

@testable import TidemarkEdge

@Suite struct SocketLivenessTests {
    /// A socket on an event loop whose time the test moves.
    private func socket(
        _ limits: EdgeLimits = EdgeLimits(), _ body: (EmbeddedChannel, Socket) throws -> Void
    ) throws {
        let channel = EmbeddedChannel()
        let loop = LoopSockets(owner: EchoOwner(), limits: limits, eventLoop: channel.eventLoop)
        let socket = Socket(eventLoop: channel.eventLoop, bearerToken: nil, ledger: ConnectionLedger(limits))
        try channel.pipeline.syncOperations.addHandler(SocketHandler(socket: socket, loop: loop))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try body(channel, socket)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    private func written(_ channel: EmbeddedChannel) throws -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while let frame = try channel.readOutbound(as: ByteBuffer.self) {
            if frame.readableBytes > 0 { frames.append(Array(frame.readableBytesView)) }
        }
        return frames
    }

    @Test func `the server pings every 25 seconds while the peer answers`() throws {
        try socket { channel, socket in
            for _ in 0..<4 {
                channel.embeddedEventLoop.advanceTime(by: .seconds(24))
                let early = try written(channel)
                #expect(early == [])
                channel.embeddedEventLoop.advanceTime(by: .seconds(1))
                let due = try written(channel)
                #expect(due == [[0x89, 0]])
                try channel.writeInbound(ByteBuffer(bytes: ClientFrames.frame(10, [])))
            }
            #expect(socket.isOpen)
        }
    }

    @Test func `sockets that open together are pinged one after the other, each within 25 seconds`() throws {
        let eventLoop = EmbeddedEventLoop()
        // A machine that has run for a while: its time begins with 0.
        eventLoop.advanceTime(by: .seconds(60))
        let limits = EdgeLimits()
        let loop = LoopSockets(owner: EchoOwner(), limits: limits, eventLoop: eventLoop)
        let channels = try (0..<128).map { _ in
            let channel = EmbeddedChannel(loop: eventLoop)
            let socket = Socket(eventLoop: eventLoop, bearerToken: nil, ledger: ConnectionLedger(limits))
            try channel.pipeline.syncOperations.addHandler(SocketHandler(socket: socket, loop: loop))
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            return channel
        }
        var pings = [Int](repeating: 0, count: channels.count)
        var most = 0
        for _ in 0..<200 {
            eventLoop.advanceTime(by: .milliseconds(125))
            let written = try channels.map { try self.written($0).count }
            most = max(most, written.reduce(0, +))
            for (index, count) in written.enumerated() { pings[index] += count }
        }
        #expect(most == 2)
        #expect(pings.allSatisfy { (1...2).contains($0) }, "\(pings)")
        for channel in channels { _ = try channel.finish(acceptAlreadyClosed: true) }
    }

    @Test func `a peer silent for 60 seconds is closed, and cut if it does not answer`() throws {
        try socket { channel, socket in
            channel.embeddedEventLoop.advanceTime(by: .seconds(59))
            let pings = try written(channel)
            #expect(pings == [[0x89, 0], [0x89, 0]])
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            let close = try written(channel).first ?? []
            #expect(ClientFrames.code(ofClose: close) == 4408)
            #expect(!socket.isOpen)
            channel.embeddedEventLoop.advanceTime(by: .seconds(4))
            #expect(channel.isActive)
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
        }
    }

    @Test func `an owner that ignores the drain is closed for it`() throws {
        let (_, continuation) = AsyncStream<RecordingOwner.Event>.makeStream()
        let channel = EmbeddedChannel()
        let limits = EdgeLimits()
        let loop = LoopSockets(owner: RecordingOwner(continuation), limits: limits, eventLoop: channel.eventLoop)
        let socket = Socket(eventLoop: channel.eventLoop, bearerToken: nil, ledger: ConnectionLedger(limits))
        try channel.pipeline.syncOperations.addHandler(SocketHandler(socket: socket, loop: loop))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(socket.isOpen)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        let close = try written(channel).first ?? []
        #expect(ClientFrames.code(ofClose: close) == 1001)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `the allowance of control frames is renewed each minute`() {
        var limits = EdgeLimits()
        limits.controlFramesPerMinuteMax = 2
        let start = NIODeadline.uptimeNanoseconds(0)
        var liveness = SocketLiveness(now: start)
        for minute in 0..<3 {
            let now = start + .minutes(Int64(minute))
            let verdicts = [0, 1, 59].map { liveness.countControl(at: now + .seconds($0), limits) }
            #expect(verdicts == [true, true, false])
        }
    }
}
