import Foundation
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
/// It understands what our own server sends, no more: no fragments, no compression, no TLS. Touched on its loop only.
final class LoadSocket {
    /// When received frames are acknowledged: the figures of the SDK's engine.
    private static let ackFrames = 32
    private static let ackBytes = 96 * 1024
    /// Room in front of a message for the header of its frame.
    private static let headerBytesMax = 14

    private let authority: String
    private var peer: (any LoadPeer)?
    /// `nil` before it is opened, and after the end.
    private var place: LoadLoop.Token?
    private var isConnected = false
    private var isUpgraded = false
    private var isEnded = false
    private var isWatchingWriting = true
    /// The beginning of a frame whose end has not come yet.
    private var unread: [UInt8] = []
    /// What the system did not take yet.
    private var unsent: [UInt8] = []
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

    /// Acknowledges what was received; call it now and then so that a quiet socket is not given up.
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

    /// A masked frame with the key 0, which leaves the bytes as they are.
    private func sendFrame(opcode: UInt8, _ write: (inout ByteBuffer) -> Void) {
        guard let place else { return }
        var frame = place.takeSpace()
        defer { place.giveBack(frame) }
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
        frame.withUnsafeReadableBytes { transmit($0) }
    }

    private func transmit(_ bytes: UnsafeRawBufferPointer) {
        guard let place else { return }
        guard unsent.isEmpty else { return unsent.append(contentsOf: bytes) }
        let count = Foundation.send(place.descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        guard count >= 0 || isTemporary(errno) else { return end("cannot send: \(systemMessage(errno))") }
        let isWhole = count == bytes.count
        if !isWhole { unsent.append(contentsOf: bytes.dropFirst(max(count, 0))) }
        watchWriting(!isWhole)
    }

    private func watchWriting(_ watches: Bool) {
        guard let place, watches != isWatchingWriting else { return }
        isWatchingWriting = watches
        if !place.watchWriting(watches) { end("the system refuses to watch a socket") }
    }

    // MARK: Events

    /// Begins to connect; how it goes is told to the peer.
    func connect(to address: SocketAddress, on loop: LoadLoop) {
        let family = CInt(address.protocol.rawValue)
        let descriptor = socket(family, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return end("cannot open a socket: \(systemMessage(errno))") }
        var yes: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<CInt>.size))
        let result = address.withSockAddr { Foundation.connect(descriptor, $0, socklen_t($1)) }
        guard result == 0 || errno == EINPROGRESS, let place = loop.watch(self, descriptor) else {
            let reason = systemMessage(errno)
            close(descriptor)
            return end("cannot connect: \(reason)")
        }
        self.place = place
    }

    /// The socket can be read or written; `space` is there to read into.
    func advance(_ space: UnsafeMutableRawBufferPointer) {
        guard let place else { return }
        if !isConnected { return finishConnecting(place) }
        if !unsent.isEmpty {
            let rest = unsent
            unsent = []
            rest.withUnsafeBytes { transmit($0) }
            guard !isEnded else { return }
        }
        let count = recv(place.descriptor, space.baseAddress, space.count, 0)
        if count > 0 {
            take(UnsafeRawBufferPointer(rebasing: space[..<count]))
        } else if count == 0 {
            end("the server closed the connection")
        } else if !isTemporary(errno) {
            end("cannot read: \(systemMessage(errno))")
        }
    }

    private func finishConnecting(_ place: LoadLoop.Token) {
        var problem: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(place.descriptor, SOL_SOCKET, SO_ERROR, &problem, &size)
        guard problem == 0 else { return end("cannot connect: \(systemMessage(problem))") }
        isConnected = true
        watchWriting(false)
        let request =
            "GET /v1/sync HTTP/1.1\r\nHost: \(authority)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Protocol: \(WireVersion.subprotocol)\r\n\r\n"
        Array(request.utf8).withUnsafeBytes { transmit($0) }
    }

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

    /// Takes whole frames from the front; returns how many bytes they have.
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

    /// The index behind the handshake's answer, once it is there.
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
        if let place {
            self.place = nil
            place.leave()
            close(place.descriptor)
        }
        let peer = self.peer
        self.peer = nil
        peer?.failed(reason, on: self)
    }
}

private func isTemporary(_ problem: CInt) -> Bool { problem == EAGAIN || problem == EINTR }

private func systemMessage(_ problem: CInt) -> String { String(cString: strerror(problem)) }
