import Foundation
import NIOCore
import NIOPosix
import TidemarkWire

/// The user of a socket of the load generator. Everything happens on the socket's event loop.
protocol LoadPeer: AnyObject {
    /// Returns the first message.
    func hello() -> [UInt8]
    /// Handles the server's welcome.
    func welcomed(_ bytes: UnsafeRawBufferPointer, on socket: LoadSocket)
    /// Handles a `changes` frame; the socket counts and acknowledges it.
    func changed(_ bytes: UnsafeRawBufferPointer, on socket: LoadSocket)
    /// Handles an `err`, a `goaway`, or the end of the connection.
    func failed(_ reason: String, on socket: LoadSocket)
}

/// One WebSocket of the load generator: the handshake, whole unmasked server frames, acknowledgements, pongs.
///
/// It understands only what our own server sends: no fragments, no compression, no TLS. It shares the machine with the
/// measured server, so it is the only handler of its channel. It is used on its loop only.
final class LoadSocket: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The bounds at which received frames are acknowledged: those of the SDK's engine.
    private static let ackFrames = 32
    private static let ackBytes = 96 * 1024
    /// The space before a message for the header of its frame.
    private static let headerBytesMax = 14

    private let authority: String
    private var peer: (any LoadPeer)?
    /// The channel; `nil` before the connection and after its end.
    private var channel: (any Channel)?
    private var isUpgraded = false
    private var isEnded = false
    /// The memory in which frames are written: the last frame's, if the system has sent it by now.
    private var space = ByteBuffer()
    /// The beginning of a frame whose end has not arrived yet.
    private var unread: [UInt8] = []
    private var received: Int64 = 0
    private var acked: Int64 = 0
    private var unackedBytes = 0

    init(authority: String, peer: any LoadPeer) {
        self.authority = authority
        self.peer = peer
    }

    // MARK: Sending

    /// Sends one text message that `write` appends to a buffer.
    func send(_ write: (inout ByteBuffer) -> Void) { sendFrame(opcode: 0x1, write) }

    /// Acknowledges what was received; call it now and then, so that the server does not give up a quiet socket.
    func acknowledge() {
        guard isUpgraded, acked < received else { return }
        acked = received
        unackedBytes = 0
        send { $0.writeString("{\"t\":\"ack\",\"frames\":\(acked)}") }
    }

    /// Cuts the connection without a close frame, as a lost network does.
    func cut() {
        peer = nil
        end("cut")
    }

    /// Sends a masked frame with the key 0, which leaves the bytes unchanged.
    private func sendFrame(opcode: UInt8, _ write: (inout ByteBuffer) -> Void) {
        guard let channel else { return }
        var frame = ByteBuffer()
        swap(&frame, &space)
        frame.clear()
        frame.writeRepeatingByte(0, count: Self.headerBytesMax)
        write(&frame)
        let count = frame.readableBytes - Self.headerBytesMax
        let start: Int
        switch count {
        case ..<126:
            start = Self.headerBytesMax - 6
            frame.setInteger(0x80 | UInt8(count), at: start + 1)
        case ..<65_536:
            start = Self.headerBytesMax - 8
            frame.setInteger(UInt8(0x80 | 126), at: start + 1)
            frame.setInteger(UInt16(count), at: start + 2)
        default:
            start = 0
            frame.setInteger(UInt8(0x80 | 127), at: start + 1)
            frame.setInteger(UInt64(count), at: start + 2)
        }
        frame.setInteger(0x80 | opcode, at: start)
        frame.moveReaderIndex(to: start)
        channel.writeAndFlush(frame, promise: nil)
        swap(&frame, &space)
    }

    // MARK: Events

    /// Begins to connect; the peer is notified of the result. Call it on the loop.
    func connect(to address: SocketAddress, on loop: any EventLoop) {
        let socket = NIOLoopBound(self, eventLoop: loop)
        ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(socket.value)
                }
            }
            .connect(to: address)
            .whenFailure { socket.value.end("cannot connect: \(reason($0))") }
    }

    func channelActive(context: ChannelHandlerContext) {
        // It may have been cut meanwhile.
        guard !isEnded else { return context.close(promise: nil) }
        channel = context.channel
        let request =
            "GET /v1/sync HTTP/1.1\r\nHost: \(authority)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Protocol: \(WireVersion.subprotocol)\r\n\r\n"
        context.writeAndFlush(NIOAny(ByteBuffer(string: request)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes { take($0) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(reason(error)) }

    func channelInactive(context: ChannelHandlerContext) { end("the server closed the connection") }

    // MARK: Reading

    private func take(_ bytes: UnsafeRawBufferPointer) {
        if unread.isEmpty {
            unread.append(contentsOf: bytes.dropFirst(consume(bytes)))
        } else {
            unread.append(contentsOf: bytes)
            let whole = unread
            unread = []
            let used = whole.withUnsafeBytes { consume($0) }
            unread = used == 0 ? whole : Array(whole[used...])
        }
    }

    /// Handles whole frames at the front and returns their number of bytes.
    private func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        var start = 0
        if !isUpgraded {
            guard let end = finishHandshake(bytes) else { return 0 }
            start = end
        }
        while !isEnded, let frame = ServerFrame(in: bytes, at: start) {
            accept(UnsafeRawBufferPointer(rebasing: bytes[frame.payload]), opcode: frame.opcode)
            start = frame.payload.upperBound
        }
        return start
    }

    /// Returns the index after the handshake's answer, when it has arrived.
    private func finishHandshake(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let end = FrameMark.headEnd.end(in: bytes) else { return nil }
        let status = String(decoding: bytes.prefix(12), as: UTF8.self)
        guard status.hasSuffix("101") else {
            self.end("the handshake was answered by \(status)")
            return nil
        }
        isUpgraded = true
        if let peer { send { $0.writeBytes(peer.hello()) } }
        return end
    }

    private func accept(_ payload: UnsafeRawBufferPointer, opcode: UInt8) {
        switch opcode {
        case 0x1: accept(payload)
        case 0x8:
            let code = payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : 1005
            end("the server closed with \(code) \(String(decoding: payload.dropFirst(2), as: UTF8.self))")
        case 0x9: sendFrame(opcode: 0xa) { $0.writeBytes(payload) }
        default: break
        }
    }

    private func accept(_ bytes: UnsafeRawBufferPointer) {
        guard let peer else { return }
        if FrameMark.changes.begins(bytes) {
            received += 1
            unackedBytes += bytes.count
            if received - acked >= Self.ackFrames || unackedBytes >= Self.ackBytes { acknowledge() }
            peer.changed(bytes, on: self)
        } else if FrameMark.welcome.begins(bytes) {
            peer.welcomed(bytes, on: self)
        } else if FrameMark.error.begins(bytes) || FrameMark.goAway.begins(bytes) {
            peer.failed(String(decoding: bytes.prefix(512), as: UTF8.self), on: self)
        }
    }

    private func end(_ reason: String) {
        guard !isEnded else { return }
        isEnded = true
        channel?.close(promise: nil)
        channel = nil
        let peer = self.peer
        self.peer = nil
        peer?.failed(reason, on: self)
    }
}

/// Returns an error without the names of system calls that SwiftNIO adds.
private func reason(_ error: any Error) -> String {
    (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
}
