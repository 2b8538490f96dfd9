package import NIOCore
import TidemarkLock

/// One upgraded WebSocket connection, as its ``SocketOwner`` sees it.
///
/// Lives on ``eventLoop`` and may be used only there; keep ``id`` elsewhere. Once closed, every call is ignored.
package final class Socket {
    private static let lastID = Lock<UInt64>(0)

    /// Unique in this process, never used again.
    package let id = Socket.lastID.add(1)
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

/// Decides about the sockets of one event loop; made once a loop and called only on that loop.
///
/// Calls for one socket come in this order: ``opened(_:)``, then any of the middle ones, then ``closed(_:)``. An owner
/// may write to, or close, any socket of its loop from inside any call.
package protocol SocketOwner: AnyObject {
    /// A peer finished the handshake. The socket is not yet authenticated.
    func opened(_ socket: Socket)
    /// One whole text message, valid UTF-8, no longer than ``EdgeLimits/messageBytesMax``. Not called after
    /// ``Socket/close(code:reason:)``.
    func received(_ socket: Socket, text: [UInt8])
    /// The unsent bytes crossed a water mark of ``EdgeLimits``.
    func writabilityChanged(_ socket: Socket, isWritable: Bool)
    /// The server shuts down gracefully. Whoever does not close the socket within ``EdgeLimits/drainDeadline`` has it
    /// closed with 1001. The default closes with 1001 at once.
    func draining(_ socket: Socket)
    /// The connection is gone, for whatever reason. Exactly once for each socket; the socket ignores writes from here on.
    func closed(_ socket: Socket)
}

extension SocketOwner {
    /// Without a word of the owner the connection is closed as going away.
    package func draining(_ socket: Socket) {
        socket.close(code: EdgeCloseCode.goingAway, reason: "the server is going away")
    }
}

/// The sockets of one event loop, their owner, and the one timer that looks after all of them. Stays on its loop.
///
/// The sockets are in parts, and the timer looks at one part at a time: to look at 5,000 sockets at once took 24 ms, for which
/// every message waited.
final class LoopSockets {
    private static let partCount = 8
    /// Sockets that come one after the other get so many different times for their pings; a multiple of `partCount`.
    private static let pingTimes = 64

    let owner: any SocketOwner
    let limits: EdgeLimits
    private let eventLoop: any EventLoop
    /// The handlers of each part, by the ids of their sockets.
    private var parts = [[UInt64: SocketHandler]](repeating: [:], count: partCount)
    /// Below `pingTimes`: the next socket's part and the time of its pings follow from it.
    private var place = 0
    /// The part that the timer looks at next.
    private var due = 0
    private var sweep: RepeatedTask?

    init(owner: any SocketOwner, limits: EdgeLimits, eventLoop: any EventLoop) {
        self.owner = owner
        self.limits = limits
        self.eventLoop = eventLoop
    }

    func insert(_ handler: SocketHandler) {
        // From the last part on: the timer comes to a loop's first socket when a whole period is over.
        handler.part = Self.partCount - 1 - place % Self.partCount
        parts[handler.part][handler.socket.id] = handler
        // After a restart all clients connect at once. Their pings must not fall due at once too.
        let share = TimeAmount(limits.pingEvery).nanoseconds / Int64(Self.pingTimes)
        handler.socket.liveness.firstPing(early: .nanoseconds(share * Int64(place)))
        place = (place + 1) % Self.pingTimes
        guard sweep == nil else { return }
        due = 0
        let period = TimeAmount.nanoseconds(TimeAmount(limits.sweepEvery).nanoseconds / Int64(Self.partCount))
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        sweep = eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in bound.value.sweepPart() }
    }

    func remove(_ handler: SocketHandler) {
        parts[handler.part][handler.socket.id] = nil
        guard parts.allSatisfy(\.isEmpty) else { return }
        sweep?.cancel()
        sweep = nil
    }

    private func sweepPart() {
        let now = eventLoop.now
        let part = due
        due = (due + 1) % Self.partCount
        for handler in parts[part].values { handler.sweep(at: now) }
    }
}

/// Finds, or makes, what belongs to an event loop.
final class LoopDirectory: Sendable {
    private let limits: EdgeLimits
    private let makeOwner: @Sendable (any EventLoop) -> any SocketOwner
    private let loops = Lock<[ObjectIdentifier: NIOLoopBound<LoopSockets>]>([:])

    init(limits: EdgeLimits, makeOwner: @escaping @Sendable (any EventLoop) -> any SocketOwner) {
        self.limits = limits
        self.makeOwner = makeOwner
    }

    /// Call on `eventLoop`: only that thread asks for its entry, so nobody else can make it between the two locks.
    func sockets(on eventLoop: any EventLoop) -> LoopSockets {
        eventLoop.preconditionInEventLoop()
        let key = ObjectIdentifier(eventLoop)
        if let known = loops.withLock({ $0[key] }) { return known.value }
        let made = LoopSockets(owner: makeOwner(eventLoop), limits: limits, eventLoop: eventLoop)
        let bound = NIOLoopBound(made, eventLoop: eventLoop)
        loops.withLock { $0[key] = bound }
        return made
    }
}
