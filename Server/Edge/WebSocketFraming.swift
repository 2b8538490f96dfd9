package import NIOCore

/// Builds server frames: unmasked, unfragmented, ready for ``Socket/write(_:)``.
///
/// A built frame is immutable and may be written to any number of sockets: all share one allocation.
package enum WebSocketFraming {
    private static let finalBit: UInt8 = 0x80
    /// The longest payload of a control frame (RFC 6455 §5.5), which includes two bytes of close code.
    private static let controlBytesMax = 125
    /// The first two bytes and the longest length.
    static let headBytesMax = 10

    /// Returns one whole text message. The bytes must be UTF-8; they are not checked.
    package static func text(_ payload: [UInt8]) -> ByteBuffer {
        frame(.text, payload.count) { $0.writeBytes(payload) }
    }

    /// Appends such a message to `buffer`.
    static func writeText(_ payload: [UInt8], to buffer: inout ByteBuffer) {
        writeHead(.text, payload.count, to: &buffer)
        buffer.writeBytes(payload)
    }

    /// A ping without payload.
    static let ping = frame(.ping, 0) { _ in }

    /// Returns the answer to a ping, with the ping's payload.
    static func pong(_ payload: [UInt8]) -> ByteBuffer {
        frame(.pong, payload.count) { $0.writeBytes(payload) }
    }

    /// Returns a close frame; without a code it is empty. A reason that does not fit is cut at a character.
    static func close(code: UInt16?, reason: String = "") -> ByteBuffer {
        guard let code else { return frame(.close, 0) { _ in } }
        let reason = prefix(of: reason, bytesMax: controlBytesMax - 2)
        return frame(.close, 2 + reason.utf8.count) {
            $0.writeInteger(code)
            $0.writeString(reason)
        }
    }

    private static func frame(_ opcode: Opcode, _ length: Int, _ body: (inout ByteBuffer) -> Void) -> ByteBuffer {
        var frame = ByteBufferAllocator().buffer(capacity: length + headBytesMax)
        writeHead(opcode, length, to: &frame)
        body(&frame)
        return frame
    }

    private static func writeHead(_ opcode: Opcode, _ length: Int, to frame: inout ByteBuffer) {
        frame.writeInteger(finalBit | opcode.rawValue)
        if length <= controlBytesMax {
            frame.writeInteger(UInt8(length))
        } else if length <= Int(UInt16.max) {
            frame.writeInteger(UInt8(126))
            frame.writeInteger(UInt16(length))
        } else {
            frame.writeInteger(UInt8(127))
            frame.writeInteger(UInt64(length))
        }
    }

    private static func prefix(of text: String, bytesMax: Int) -> String {
        guard text.utf8.count > bytesMax else { return text }
        var kept = ""
        var count = 0
        for character in text {
            count += character.utf8.count
            guard count <= bytesMax else { break }
            kept.append(character)
        }
        return kept
    }
}

/// The opcodes that RFC 6455 §5.2 defines; the rest are reserved.
enum Opcode: UInt8 {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    var isControl: Bool { rawValue & 0x8 != 0 }
}

/// The frames of small text messages, in buffers that are used in turn. A busy event loop frames thousands a second,
/// each of which would otherwise be allocated and freed.
///
/// If the bytes of the next buffer still wait for their socket, it is left to them, and a new one replaces it.
package struct FrameBuffers {
    private var buffers = [ByteBuffer](repeating: ByteBuffer(), count: Self.turns)
    private var turn = 0

    package init() {}

    /// Returns one whole text message, like ``WebSocketFraming/text(_:)``.
    package mutating func text(_ payload: [UInt8]) -> ByteBuffer {
        guard payload.count <= Self.payloadBytesMax else { return WebSocketFraming.text(payload) }
        turn = (turn + 1) % Self.turns
        buffers[turn].clear(minimumCapacity: payload.count + WebSocketFraming.headBytesMax)
        WebSocketFraming.writeText(payload, to: &buffers[turn])
        return buffers[turn]
    }

    /// About the number of frames that are written between two flushes.
    private static let turns = 64
    /// The longest payload for these buffers. Longer ones are rare, and would keep their memory.
    private static let payloadBytesMax = 4_096
}
