package import NIOCore
import Synchronization

/// One upgraded WebSocket connection, as its ``SocketOwner`` sees it.
///
/// Lives on ``eventLoop`` and may be used only there; keep ``id`` elsewhere. Once closed, every call is ignored.
package final class Socket {
    private static let lastID = Atomic<UInt64>(0)

    /// Unique in this process, never used again.
    package let id = Socket.lastID.wrappingAdd(1, ordering: .relaxed).newValue
    /// The one thread that may use this object.
    package let eventLoop: any EventLoop
    /// The token of the handshake's `Authorization: Bearer …` header, until ``markAuthenticated()`` drops it.
    package private(set) var bearerToken: String?
    /// Nobody has said for whom this socket speaks.
    private(set) var isUnauthenticated = true
    /// The owner's own state for this socket; the edge drops it after ``SocketOwner/closed(_:)``.
    package var session: AnyObject?

    /// How it ended; `nil` while it is open, and where it was lost without a word.
    package private(set) var ending: Ending?

    /// Who closed a socket, and how.
    package struct Ending: Hashable, Sendable {
        package var code: UInt16?
        package var reason: String
        package var isByPeer: Bool
    }

    private let ledger: ConnectionLedger
    private var context: ChannelHandlerContext?
    var liveness: SocketLiveness

    init(eventLoop: any EventLoop, bearerToken: String?, ledger: ConnectionLedger) {
        self.eventLoop = eventLoop
        self.bearerToken = bearerToken
        self.ledger = ledger
        liveness = SocketLiveness(now: eventLoop.now)
    }

    /// Who is at the other end, for logs; behind a trusted proxy its client.
    package var remoteAddress: SocketAddress? { context.flatMap { ledger.peer(of: $0.channel) } }

    /// Whether the unsent bytes are under the high water mark. Check before each write: writing regardless buffers
    /// without bound.
    package var isWritable: Bool { context?.channel.isWritable ?? false }

    /// Whether messages can still be written and received: neither side has begun to close.
    package var isOpen: Bool { context != nil && !liveness.isClosing }

    /// Queues one frame made by ``WebSocketFraming``; nothing leaves before ``flush()``. Ignored once closing.
    package func write(_ frame: ByteBuffer) {
        guard isOpen, let context else { return }
        context.write(NIOAny(frame), promise: nil)
    }

    /// Hands everything written so far to the kernel, in as few calls as it takes.
    package func flush() { context?.flush() }

    /// Sends a close frame after what is already queued, and drops what the peer still sends.
    ///
    /// The connection ends with the peer's answer or ``EdgeLimits/closeDeadline``. Repeated calls are ignored.
    /// - Parameters:
    ///   - code: 1000, 1001 or a code of the application from 4000.
    ///   - reason: at most 123 bytes of UTF-8; more is cut.
    package func close(code: UInt16, reason: String) {
        guard let context, liveness.close(at: eventLoop.now) else { return }
        ending = Ending(code: code, reason: reason, isByPeer: false)
        ledger.observe(.closing(code, remoteAddress))
        context.writeAndFlush(NIOAny(WebSocketFraming.close(code: code, reason: reason)), promise: nil)
    }

    /// Takes this connection off its address's count of strangers, and forgets the handshake's token. Its messages may be
    /// as long as ``EdgeLimits/messageBytesMax`` allows from here on.
    package func markAuthenticated() {
        bearerToken = nil
        isUnauthenticated = false
        guard let context else { return }
        ledger.markAuthenticated(context.channel)
    }

    /// Counts what is kept of an unfinished message while nobody knows whose it is; false when there is no room for it.
    func holds(_ bytes: Int) -> Bool {
        guard isUnauthenticated, let context else { return true }
        return ledger.hold(bytes, for: context.channel)
    }

    /// The other end closes.
    func closes(code: UInt16?) {
        if ending == nil { ending = Ending(code: code, reason: "the client closed", isByPeer: true) }
    }

    func attach(_ context: ChannelHandlerContext) { self.context = context }

    func detach() {
        context = nil
        session = nil
    }
}
