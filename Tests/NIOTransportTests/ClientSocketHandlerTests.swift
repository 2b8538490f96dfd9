import NIOCore
import NIOEmbedded
import NIOWebSocket
import Testing

@testable import TidemarkNIOTransport

/// The handler alone, on an event loop whose time the test moves.
@Suite struct ClientSocketHandlerTests {
    private let channel = EmbeddedChannel()
    private let handler: ClientSocketHandler

    init() throws {
        handler = ClientSocketHandler(messageBytesMax: 1000, limits: NIOTransportLimits())
        try channel.pipeline.syncOperations.addHandler(handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func receive(_ opcode: WebSocketOpcode, _ text: String) throws {
        try channel.writeInbound(WebSocketFrame(fin: true, opcode: opcode, data: ByteBuffer(string: text)))
    }

    private func sent() throws -> [WebSocketFrame] {
        var frames: [WebSocketFrame] = []
        while let frame = try channel.readOutbound(as: WebSocketFrame.self) { frames.append(frame) }
        return frames
    }

    @Test func `a ping is answered with its payload, masked`() throws {
        try receive(.ping, "x")
        let frames = try sent()
        #expect(frames.map(\.opcode) == [.pong])
        #expect(frames.first?.data == ByteBuffer(string: "x"))
        #expect(frames.first?.maskKey != nil)
    }

    @Test func `a server silent for 60 seconds is given up`() throws {
        for _ in 0..<3 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(59))
            try receive(.ping, "")
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `a full inbox stops reading, keeps the server informed, and is not treated as silence`() async throws {
        for index in 0..<NIOTransportLimits().waitingMessagesMax { try receive(.text, "\(index)") }
        channel.read()
        channel.embeddedEventLoop.advanceTime(by: .seconds(300))
        #expect(channel.isActive)
        let frames = try sent()
        #expect(frames.count == 15)
        #expect(frames.allSatisfy { $0.opcode == .pong && $0.maskKey != nil })
        let first: [[UInt8]] = try await withCheckedThrowingContinuation { waiter in
            if handler.machine.take(1, atMost: 1, waiter) { handler.resumeReading() }
        }
        #expect(first == [Array("0".utf8)])
        channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        #expect(try sent().isEmpty)
        #expect(channel.isActive)
    }

    @Test func `a close frame without an answer ends in a cut`() throws {
        handler.close(code: 1000, reason: "bye")
        let frames = try sent()
        #expect(frames.map(\.opcode) == [.connectionClose])
        #expect(frames.first?.data == ByteBuffer(bytes: [0x03, 0xE8] + Array("bye".utf8)))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
    }

    @Test func `a long reason is cut at a character`() throws {
        handler.close(code: 1000, reason: String(repeating: "é", count: 100))
        #expect(try sent().first?.data.readableBytes == 2 + 122)
    }
}
