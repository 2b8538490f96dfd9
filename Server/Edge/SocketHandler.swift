import NIOCore

/// The only channel handler of an upgraded connection: parses frames, keeps the protocol, calls the owner.
///
/// Frames are written as finished bytes (``Socket/write(_:)``), so the pipeline needs no encoder.
///
/// While the socket is not writable, nothing is read from it, and bytes that were already read are kept. So a peer that
/// does not read its answers cannot pile up more of them.
final class SocketHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let socket: Socket
    private let loop: LoopSockets
    /// The index of its part in the loop's sockets, see ``LoopSockets``.
    var part = 0
    private var parser: FrameParser
    private var context: ChannelHandlerContext?
    /// Set when a peer broke the protocol: its further bytes are dropped unread until it has left.
    private var isDeaf = false
    /// Bytes that were read and not parsed: at most those of one turn of the loop.
    private var unread = ByteBuffer()
    private var isParsing = false
    /// True when a read was requested while nothing was to be read.
    private var owesRead = false
    /// Unsent bytes of a socket that was not writable, as of the last sweep.
    private var unsent = Int.max

    init(socket: Socket, loop: LoopSockets) {
        self.socket = socket
        self.loop = loop
        parser = FrameParser(
            messageBytesMax: loop.limits.messageBytesMax, fragmentsMax: loop.limits.fragmentsPerMessageMax)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        socket.attach(context)
        loop.insert(self)
        loop.owner.opened(socket)
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDeaf else { return }
        var bytes = unwrapInboundIn(data)
        socket.liveness.heard(at: context.eventLoop.now)
        if unread.readableBytes == 0 { parse(&bytes, context) } else { unread.writeBuffer(&bytes) }
        guard socket.isUnauthenticated, !isDeaf, !socket.holds(parser.unfinishedBytes + unread.readableBytes) else {
            return
        }
        fail(.noRoom, context)
    }

    func read(context: ChannelHandlerContext) {
        guard listens(context), unread.readableBytes == 0 else { return owesRead = true }
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        loop.owner.writabilityChanged(socket, isWritable: context.channel.isWritable)
        listenOn(context)
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ChannelShouldQuiesceEvent else { return context.fireUserInboundEventTriggered(event) }
        guard !socket.liveness.isClosing else { return }
        socket.liveness.drain(at: context.eventLoop.now)
        loop.owner.draining(socket)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The only errors that reach here are the socket's own (reset, timed out): the connection is lost.
        context.close(promise: nil)
    }

    /// Does what is due for this socket; called by the event loop's sweep.
    func sweep(at now: NIODeadline) {
        guard let context else { return }
        noteProgress(context, at: now)
        // A socket that began to close is read until its end, writable or not.
        listenOn(context)
        switch socket.liveness.sweep(at: now, loop.limits) {
        case .nothing: break
        case .ping: context.writeAndFlush(wrapOutboundOut(WebSocketFraming.ping), promise: nil)
        case .closeSilent: socket.close(code: EdgeCloseCode.silent, reason: "the client was silent for too long")
        case .closeDrained: socket.close(code: EdgeCloseCode.goingAway, reason: "the server is going away")
        case .cut: context.close(promise: nil)
        }
    }

    /// Whether bytes of the peer are read now.
    private func listens(_ context: ChannelHandlerContext) -> Bool {
        context.channel.isWritable || isDeaf || socket.liveness.isClosing
    }

    /// Continues with the bytes that were kept, and the read that was put off.
    private func listenOn(_ context: ChannelHandlerContext) {
        // A write in `react` can fill and empty the socket: the running loop then continues by itself.
        guard !isParsing, listens(context) else { return }
        if unread.readableBytes > 0 {
            var bytes = unread
            unread = ByteBuffer()
            parse(&bytes, context)
        }
        guard owesRead, unread.readableBytes == 0, listens(context) else { return }
        owesRead = false
        context.read()
    }

    private func parse(_ bytes: inout ByteBuffer, _ context: ChannelHandlerContext) {
        isParsing = true
        defer { isParsing = false }
        do throws(FrameViolation) {
            while !isDeaf, listens(context) {
                guard let event = try parser.next(from: &bytes) else { return }
                try react(to: event, context)
            }
        } catch {
            return fail(error, context)
        }
        if !isDeaf, bytes.readableBytes > 0 { unread = bytes }
    }

    /// Treats progress of a full socket as a sign of life, since nothing else is read from its peer.
    private func noteProgress(_ context: ChannelHandlerContext, at now: NIODeadline) {
        guard !context.channel.isWritable, let options = context.channel.syncOptions else { return unsent = .max }
        // Without the option's value the peer is treated as silent.
        guard let left = try? options.getOption(.bufferedWritableBytes) else { return }
        if left < unsent { socket.liveness.heard(at: now) }
        unsent = left
    }

    private func react(to event: FrameParser.Event, _ context: ChannelHandlerContext) throws(FrameViolation) {
        switch event {
        case .text(let text):
            if socket.isOpen { loop.owner.received(socket, text: text) }
        case .ping(let payload):
            try countControl(context)
            // A peer that does not read gets no pongs either: they would pile up (RFC 6455 §5.5.3 allows omitting
            // some).
            guard socket.isOpen, socket.isWritable else { return }
            context.writeAndFlush(wrapOutboundOut(WebSocketFraming.pong(payload)), promise: nil)
        case .pong:
            try countControl(context)
        case .close(let code, _):
            isDeaf = true
            socket.closes(code: code)
            guard socket.liveness.close(at: context.eventLoop.now) else { return context.close(promise: nil) }
            let echo = wrapOutboundOut(WebSocketFraming.close(code: code))
            context.writeAndFlush(echo).assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        }
    }

    private func countControl(_ context: ChannelHandlerContext) throws(FrameViolation) {
        guard socket.liveness.countControl(at: context.eventLoop.now, loop.limits) else { throw .tooManyControls }
    }

    /// Sends the violation to the peer, then closes our half only. Closing both with its bytes unread would make the
    /// kernel send a reset, which can overtake the close frame. The close deadline ends the other half.
    private func fail(_ violation: FrameViolation, _ context: ChannelHandlerContext) {
        isDeaf = true
        parser.abandon()
        unread = ByteBuffer()
        _ = socket.holds(0)
        socket.close(code: violation.code, reason: violation.reason)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
            context.close(mode: .output, promise: nil)
        }
    }

    private func end() {
        guard context != nil else { return }
        context = nil
        loop.remove(self)
        loop.owner.closed(socket)
        socket.detach()
    }
}

/// Decides when a socket is pinged, closed, or cut: a pure machine over the times of events.
struct SocketLiveness {
    enum Verdict: Equatable {
        case nothing
        case ping
        /// The peer was silent for too long.
        case closeSilent
        /// A graceful shutdown has waited for the owner long enough.
        case closeDrained
        /// The close handshake takes too long.
        case cut
    }

    enum Phase: Equatable {
        case open
        case draining(since: NIODeadline)
        /// Our close frame is sent; messages are dropped until the peer's arrives.
        case closing(since: NIODeadline)
    }

    private(set) var phase = Phase.open
    private var lastHeard: NIODeadline
    private var lastPing: NIODeadline
    private var minuteStart: NIODeadline
    private var controlsThisMinute = 0

    init(now: NIODeadline) {
        lastHeard = now
        lastPing = now
        minuteStart = now
    }

    var isClosing: Bool {
        if case .closing = phase { true } else { false }
    }

    /// Makes the first ping due earlier than a whole period after the beginning, by `early`.
    mutating func firstPing(early: TimeAmount) { lastPing = lastPing - early }

    mutating func heard(at now: NIODeadline) { lastHeard = now }

    /// Counts a ping or pong of the peer; `false` when it is one too many.
    mutating func countControl(at now: NIODeadline, _ limits: EdgeLimits) -> Bool {
        if now - minuteStart >= .minutes(1) {
            minuteStart = now
            controlsThisMinute = 0
        }
        controlsThisMinute += 1
        return controlsThisMinute <= limits.controlFramesPerMinuteMax
    }

    mutating func drain(at now: NIODeadline) {
        if phase == .open { phase = .draining(since: now) }
    }

    /// Begins to close; `false` when the socket was closing already.
    mutating func close(at now: NIODeadline) -> Bool {
        guard !isClosing else { return false }
        phase = .closing(since: now)
        return true
    }

    mutating func sweep(at now: NIODeadline, _ limits: EdgeLimits) -> Verdict {
        switch phase {
        case .closing(let since):
            return now - since >= TimeAmount(limits.closeDeadline) ? .cut : .nothing
        case .draining(let since) where now - since >= TimeAmount(limits.drainDeadline):
            return .closeDrained
        case .draining, .open:
            if now - lastHeard >= TimeAmount(limits.silenceMax) { return .closeSilent }
            guard now - lastPing >= TimeAmount(limits.pingEvery) else { return .nothing }
            lastPing = now
            return .ping
        }
    }
}
