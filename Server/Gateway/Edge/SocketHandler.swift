import NIOCore

/// The only channel handler of an upgraded connection: parses frames, keeps the protocol, tells the owner.
///
/// Frames are written as finished bytes (``Socket/write(_:)``), so the pipeline needs no encoder.
final class SocketHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let socket: Socket
    private let loop: LoopSockets
    private var parser: FrameParser
    private var context: ChannelHandlerContext?
    /// Set when a peer broke the protocol: its further bytes are dropped unread until it is gone.
    private var isDeaf = false

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
        do throws(FrameViolation) {
            while !isDeaf, let event = try parser.next(from: &bytes) {
                try react(to: event, context)
            }
        } catch {
            fail(error, context)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        loop.owner.writabilityChanged(socket, isWritable: context.channel.isWritable)
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

    /// What the event loop's sweep found due.
    func sweep(at now: NIODeadline) {
        guard let context else { return }
        switch socket.liveness.sweep(at: now, loop.limits) {
        case .nothing: break
        case .ping: context.writeAndFlush(wrapOutboundOut(WebSocketFraming.ping), promise: nil)
        case .closeSilent: socket.close(code: CloseCode.silent, reason: "nothing was heard for too long")
        case .closeDrained: socket.close(code: CloseCode.goingAway, reason: "the server is going away")
        case .cut: context.close(promise: nil)
        }
    }

    private func react(to event: FrameParser.Event, _ context: ChannelHandlerContext) throws(FrameViolation) {
        switch event {
        case .text(let text):
            if socket.isOpen { loop.owner.received(socket, text: text) }
        case .ping(let payload):
            try countControl(context)
            // A peer that does not read gets no pongs either: they would pile up (RFC 6455 §5.5.3 allows leaving some out).
            guard socket.isOpen, socket.isWritable else { return }
            context.writeAndFlush(wrapOutboundOut(WebSocketFraming.pong(payload)), promise: nil)
        case .pong:
            try countControl(context)
        case .close(let code, _):
            isDeaf = true
            guard socket.liveness.close(at: context.eventLoop.now) else { return context.close(promise: nil) }
            let echo = wrapOutboundOut(WebSocketFraming.close(code: code))
            context.writeAndFlush(echo).assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        }
    }

    private func countControl(_ context: ChannelHandlerContext) throws(FrameViolation) {
        guard socket.liveness.countControl(at: context.eventLoop.now, loop.limits) else { throw .tooManyControls }
    }

    /// Tells the peer what it did, then closes our half only: closing both with its bytes unread would make the kernel
    /// send a reset, which can overtake the close frame. The close deadline ends the other half.
    private func fail(_ violation: FrameViolation, _ context: ChannelHandlerContext) {
        isDeaf = true
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
