import NIOCore
import TidemarkWire

/// What a socket of the load generator talks to. Everything happens on the socket's event loop.
protocol LoadPeer: AnyObject {
    /// The first message.
    func hello() -> [UInt8]
    /// The server welcomed the connection.
    func welcomed(_ bytes: UnsafeRawBufferPointer, on socket: LoadSocket)
    /// A `changes` frame; the socket counts and acknowledges it.
    func changed(_ bytes: UnsafeRawBufferPointer, on socket: LoadSocket)
    /// An `err`, a `goaway`, or the end of the connection.
    func failed(_ reason: String, on socket: LoadSocket)
}

/// One WebSocket of the load generator: the handshake, whole unmasked server frames, acknowledgements, pongs.
///
/// It understands what our own server sends, no more: no fragments, no compression, no TLS.
final class LoadSocket: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// When received frames are acknowledged: the figures of the SDK's engine.
    private static let ackFrames = 32
    private static let ackBytes = 96 * 1024

    private let authority: String
    private var peer: (any LoadPeer)?
    private var context: ChannelHandlerContext?
    private var isUpgraded = false
    private var isEnded = false
    private var unread: ByteBuffer?
    private var scratch = ByteBuffer()
    private var received: Int64 = 0
    private var acked: Int64 = 0
    private var unackedBytes = 0

    init(authority: String, peer: any LoadPeer) {
        self.authority = authority
        self.peer = peer
    }

    // MARK: Sending

    /// Sends one text message that `write` appends to an empty buffer.
    func send(_ write: (inout ByteBuffer) -> Void) {
        scratch.clear()
        write(&scratch)
        sendFrame(opcode: 0x1)
    }

    /// Acknowledges what was received; call it now and then so that a quiet socket is not given up.
    func acknowledge() {
        guard isUpgraded, acked < received else { return }
        acked = received
        unackedBytes = 0
        send { $0.writeString("{\"t\":\"ack\",\"frames\":\(acked)}") }
    }

    /// Cuts the connection without a close frame, as a lost network does.
    func cut() {
        isEnded = true
        peer = nil
        context?.close(promise: nil)
    }

    /// A masked frame with the key 0, which leaves the bytes as they are.
    private func sendFrame(opcode: UInt8) {
        guard let context, !isEnded else { return }
        let count = scratch.readableBytes
        var frame = context.channel.allocator.buffer(capacity: count + 14)
        frame.writeInteger(0x80 | opcode)
        switch count {
        case ..<126: frame.writeInteger(0x80 | UInt8(count))
        case ..<65_536:
            frame.writeInteger(UInt8(0x80 | 126))
            frame.writeInteger(UInt16(count))
        default:
            frame.writeInteger(UInt8(0x80 | 127))
            frame.writeInteger(UInt64(count))
        }
        frame.writeInteger(UInt32(0))
        frame.writeBuffer(&scratch)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }

    // MARK: Channel events

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        var request = context.channel.allocator.buffer(capacity: 256)
        request.writeString(
            "GET /v1/sync HTTP/1.1\r\nHost: \(authority)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Protocol: \(WireVersion.subprotocol)\r\n\r\n")
        context.writeAndFlush(wrapOutboundOut(request), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        if var earlier = unread {
            earlier.writeBuffer(&buffer)
            buffer = earlier
            unread = nil
        }
        if !isUpgraded, !finishHandshake(&buffer) { return unread = buffer }
        while readFrame(&buffer) {}
        if buffer.readableBytes > 0 {
            buffer.discardReadBytes()
            unread = buffer
        }
    }

    func channelInactive(context: ChannelHandlerContext) { end("the server closed the connection") }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end("\(error)")
        context.close(promise: nil)
    }

    // MARK: Reading

    private func finishHandshake(_ buffer: inout ByteBuffer) -> Bool {
        guard let end = buffer.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8)) else { return false }
        let status = buffer.getString(at: buffer.readerIndex, length: min(12, buffer.readableBytes)) ?? ""
        guard status.hasSuffix("101") else {
            self.end("the handshake was answered by \(status)")
            context?.close(promise: nil)
            return false
        }
        buffer.moveReaderIndex(to: end.upperBound)
        isUpgraded = true
        if let peer { send { $0.writeBytes(peer.hello()) } }
        return true
    }

    private func readFrame(_ buffer: inout ByteBuffer) -> Bool {
        let start = buffer.readerIndex
        guard let first: UInt8 = buffer.getInteger(at: start), let second: UInt8 = buffer.getInteger(at: start + 1)
        else { return false }
        var header = 2
        var length = Int(second & 0x7f)
        if length == 126 {
            guard let long: UInt16 = buffer.getInteger(at: start + 2) else { return false }
            (length, header) = (Int(long), 4)
        } else if length == 127 {
            guard let long: UInt64 = buffer.getInteger(at: start + 2) else { return false }
            (length, header) = (Int(clamping: long), 10)
        }
        guard buffer.readableBytes - header >= length else { return false }
        buffer.moveReaderIndex(forwardBy: header)
        if let payload = buffer.readSlice(length: length) { accept(payload, opcode: first & 0x0f) }
        return true
    }

    private func accept(_ payload: ByteBuffer, opcode: UInt8) {
        guard !isEnded else { return }
        switch opcode {
        case 0x1: payload.withUnsafeReadableBytes { accept($0) }
        case 0x8:
            let code: UInt16 = payload.getInteger(at: payload.readerIndex) ?? 1005
            let reason =
                payload.getString(
                    at: payload.readerIndex + 2, length: max(0, payload.readableBytes - 2)) ?? ""
            end("closed with \(code) \(reason)")
            context?.close(promise: nil)
        case 0x9:
            scratch.clear()
            scratch.writeImmutableBuffer(payload)
            sendFrame(opcode: 0xa)
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
        let peer = self.peer
        self.peer = nil
        peer?.failed(reason, on: self)
    }
}
