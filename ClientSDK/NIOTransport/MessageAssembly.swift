import NIOCore
import NIOWebSocket

/// Joins a server's frames into messages and makes the checks that NIO's decoder leaves to its user: a pure machine.
struct MessageAssembly {
    /// The rule that the server broke, and the close code for it.
    struct Violation: Error, Equatable {
        let code: UInt16
        let reason: String
    }

    private let bytesMax: Int
    private let fragmentsMax: Int
    private var message: [UInt8] = []
    /// The frames of the unfinished message so far; 0 when there is none.
    private var fragments = 0

    init(bytesMax: Int, fragmentsMax: Int) {
        self.bytesMax = bytesMax
        self.fragmentsMax = fragmentsMax
    }

    /// Checks the rules for every frame, including control frames.
    static func check(_ frame: WebSocketFrame) throws(Violation) {
        guard !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
            throw Violation(code: 1002, reason: "reserved bits are set")
        }
        guard frame.maskKey == nil else { throw Violation(code: 1002, reason: "server frames must not be masked") }
        switch frame.opcode {
        case .text, .continuation, .ping, .pong, .connectionClose: return
        case .binary: throw Violation(code: 1003, reason: "only text messages are spoken here")
        default: throw Violation(code: 1002, reason: "reserved opcode")
        }
    }

    /// Adds a text or continuation frame. Returns the whole message when it was the last frame.
    mutating func add(_ frame: WebSocketFrame) throws(Violation) -> [UInt8]? {
        switch (frame.opcode, fragments) {
        case (.continuation, 0): throw Violation(code: 1002, reason: "continuation of no message")
        case (.text, 1...): throw Violation(code: 1002, reason: "the previous message is not finished")
        case (_, fragmentsMax...): throw Violation(code: 1009, reason: "message in too many fragments")
        default: fragments += 1
        }
        guard message.count + frame.data.readableBytes <= bytesMax else {
            throw Violation(code: 1009, reason: "message too big")
        }
        message.append(contentsOf: frame.data.readableBytesView)
        guard frame.fin else { return nil }
        defer {
            message = []
            fragments = 0
        }
        return message
    }
}
