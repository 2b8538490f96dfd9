package import NIOCore

/// Socket bytes of small text messages, in buffers that are used in turn: a busy event loop frames thousands a second, each
/// of which would else be allocated and freed.
///
/// A buffer whose bytes still wait for their socket when its turn comes is left to it, and another takes its place.
package struct FrameBuffers {
    private var buffers = [ByteBuffer](repeating: ByteBuffer(), count: Self.turns)
    private var turn = 0

    package init() {}

    /// One whole text message, as ``WebSocketFraming/text(_:)``.
    package mutating func text(_ payload: [UInt8]) -> ByteBuffer {
        guard payload.count <= Self.payloadBytesMax else { return WebSocketFraming.text(payload) }
        turn = (turn + 1) % Self.turns
        buffers[turn].clear(minimumCapacity: payload.count + WebSocketFraming.headBytesMax)
        WebSocketFraming.writeText(payload, to: &buffers[turn])
        return buffers[turn]
    }

    /// About what is written between two flushes.
    private static let turns = 64
    /// Longer ones are rare, and would be kept.
    private static let payloadBytesMax = 4_096
}
