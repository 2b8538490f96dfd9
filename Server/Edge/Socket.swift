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
    /// True until the owner has authenticated the socket.
    private(set) var isUnauthenticated = true
    /// The owner's own state for this socket; the edge drops it after ``SocketOwner/closed(_:)``.
    package var session: AnyObject?

    /// The end of the connection; `nil` while it is open, and if it was lost without a close.
    package private(set) var ending: Ending?

    /// The side that closed a socket, with code and reason.
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

    /// The peer's address, for logs; behind a trusted proxy, its client's.
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

    /// Passes everything written so far to the kernel, in as few calls as possible.
    package func flush() { context?.flush() }

    /// Sends a close frame after the queued frames, and drops all further messages of the peer.
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

    /// Ends the count of this connection as unauthenticated, and forgets the handshake's token. From here on its
    /// messages may be as long as ``EdgeLimits/messageBytesMax`` allows.
    package func markAuthenticated() {
        bearerToken = nil
        isUnauthenticated = false
        guard let context else { return }
        ledger.markAuthenticated(context.channel)
    }

    /// Counts the kept bytes of an unfinished message while the socket is unauthenticated; false when there is no room
    /// for them.
    func holds(_ bytes: Int) -> Bool {
        guard isUnauthenticated, let context else { return true }
        return ledger.hold(bytes, for: context.channel)
    }

    /// Records that the peer closes.
    func closes(code: UInt16?) {
        if ending == nil { ending = Ending(code: code, reason: "the client closed", isByPeer: true) }
    }

    func attach(_ context: ChannelHandlerContext) { self.context = context }

    func detach() {
        context = nil
        session = nil
    }
}

/// Handles the sockets of one event loop; made once for a loop and called only on that loop.
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
    /// The server shuts down gracefully. Sockets that the owner does not close within ``EdgeLimits/drainDeadline`` are
    /// closed with 1001. The default closes with 1001 at once.
    func draining(_ socket: Socket)
    /// The connection has ended, for whatever reason. Called exactly once for each socket, which ignores later writes.
    func closed(_ socket: Socket)
}

extension SocketOwner {
    /// Closes the connection as going away, if the owner does not implement this.
    package func draining(_ socket: Socket) {
        socket.close(code: EdgeCloseCode.goingAway, reason: "the server is going away")
    }
}

/// The sockets of one event loop, their owner, and the one timer that checks all of them. Stays on its loop.
///
/// The sockets are divided into parts, and the timer checks one part at a time. Checking 5,000 sockets at once took 24
/// ms, for which every message waited.
final class LoopSockets {
    private static let partCount = 8
    /// The number of different ping times that consecutive sockets get; a multiple of `partCount`.
    private static let pingTimes = 64

    let owner: any SocketOwner
    let limits: EdgeLimits
    private let eventLoop: any EventLoop
    /// The handlers of each part, by the ids of their sockets.
    private var parts = [[UInt64: SocketHandler]](repeating: [:], count: partCount)
    /// A counter below `pingTimes`, from which the next socket's part and the time of its pings follow.
    private var place = 0
    /// The part that the timer checks next.
    private var due = 0
    private var sweep: RepeatedTask?

    init(owner: any SocketOwner, limits: EdgeLimits, eventLoop: any EventLoop) {
        self.owner = owner
        self.limits = limits
        self.eventLoop = eventLoop
    }

    func insert(_ handler: SocketHandler) {
        // From the last part on: the timer reaches a loop's first socket after a whole period.
        handler.part = Self.partCount - 1 - place % Self.partCount
        parts[handler.part][handler.socket.id] = handler
        // After a restart all clients connect at once. Their pings must not be due at once too.
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

/// Finds, or makes, the sockets of an event loop.
final class LoopDirectory: Sendable {
    private let limits: EdgeLimits
    private let makeOwner: @Sendable (any EventLoop) -> any SocketOwner
    private let loops = Lock<[ObjectIdentifier: NIOLoopBound<LoopSockets>]>([:])

    init(limits: EdgeLimits, makeOwner: @escaping @Sendable (any EventLoop) -> any SocketOwner) {
        self.limits = limits
        self.makeOwner = makeOwner
    }

    /// Returns the loop's sockets. Call on `eventLoop`: only that thread asks for its entry, so no other can make it
    /// between the two locks.
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
