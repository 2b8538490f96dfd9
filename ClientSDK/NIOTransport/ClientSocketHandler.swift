import NIOCore
import NIOWebSocket

/// The last handler of a client's WebSocket: assembles messages, answers pings, and reads no faster than the app takes.
final class ClientSocketHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame
    typealias Waiter = CheckedContinuation<[[UInt8]], any Error>

    private let limits: NIOTransportLimits
    private var assembly: MessageAssembly
    private var inbox: Inbox<Waiter>
    private var context: ChannelHandlerContext?
    private var isReadHeldBack = false
    private var isClosing = false
    private var lastHeard = NIODeadline.uptimeNanoseconds(0)
    private var silenceAlarm: Scheduled<Void>?
    private var signOfLife: RepeatedTask?

    init(messageBytesMax: Int, limits: NIOTransportLimits) {
        self.limits = limits
        assembly = MessageAssembly(bytesMax: messageBytesMax, fragmentsMax: limits.fragmentsPerMessageMax)
        inbox = Inbox(messagesMax: limits.waitingMessagesMax, bytesMax: messageBytesMax)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        lastHeard = context.eventLoop.now
        watchSilence(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { lose() }

    func channelInactive(context: ChannelHandlerContext) {
        lose()
        context.fireChannelInactive()
    }

    func read(context: ChannelHandlerContext) {
        guard inbox.hasRoom || isClosing else { return holdBack(context) }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastHeard = context.eventLoop.now
        let frame = unwrapInboundIn(data)
        do throws(MessageAssembly.Violation) {
            try MessageAssembly.check(frame)
            switch frame.opcode {
            case .ping:
                guard !isClosing else { return }
                send(WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.data), context)
            case .pong: break
            case .connectionClose: closedByServer(frame.data, context)
            default:
                guard let message = try assembly.add(frame) else { return }
                inbox.deliver(message)?.resume(returning: [message])
            }
        } catch {
            fail(error, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case NIOWebSocketError.invalidFrameLength: fail(.init(code: 1009, reason: "message too big"), context)
        case is NIOWebSocketError: fail(.init(code: 1002, reason: "\(error)"), context)
        default:
            finish(NIOTransportError(.lost, "\(error)"))
            context.close(promise: nil)
        }
    }

    // MARK: For the connection, on the event loop

    func take(_ id: UInt64, atMost most: Int, _ waiter: Waiter) {
        switch inbox.take(id, atMost: most, waiter) {
        case nil: break
        case .messages(let messages)?: waiter.resume(returning: messages)
        case .failure(let error)?: waiter.resume(throwing: error)
        }
        resumeReading()
    }

    func cancelTake(_ id: UInt64) { inbox.cancel(id)?.resume(throwing: CancellationError()) }

    func close(code: UInt16, reason: String) {
        guard let context, !isClosing else { return }
        finish(TransportClosed(code: code, reason: reason))
        sendClose(code, reason, context)
        // The server's answer may stand behind messages that nobody will take: read on, and drop them.
        resumeReading()
    }

    // MARK: Ends

    private func closedByServer(_ payload: ByteBuffer, _ context: ChannelHandlerContext) {
        var reason = payload
        let code = reason.readInteger(as: UInt16.self)
        finish(TransportClosed(code: code ?? 1005, reason: String(buffer: reason)))
        guard !isClosing else { return context.close(promise: nil) }
        isClosing = true
        var echo = context.channel.allocator.buffer(capacity: 2)
        if let code { echo.writeInteger(code) }
        let frame = WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(), data: echo)
        context.writeAndFlush(wrapOutboundOut(frame)).assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }

    private func fail(_ violation: MessageAssembly.Violation, _ context: ChannelHandlerContext) {
        let code: NIOTransportError.Code = violation.code == 1009 ? .tooLarge : .protocolViolation
        finish(NIOTransportError(code, violation.reason))
        sendClose(violation.code, violation.reason, context)
    }

    private func sendClose(_ code: UInt16, _ reason: String, _ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        isClosing = true
        var payload = context.channel.allocator.buffer(capacity: 2 + reason.utf8.count)
        payload.writeInteger(code)
        // A close frame holds 123 bytes of text.
        for character in reason where payload.readableBytes + character.utf8.count <= 125 {
            payload.writeString(String(character))
        }
        send(WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(), data: payload), context)
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.closeDeadline)) {
            context.close(promise: nil)
        }
    }

    private func lose() {
        context = nil
        silenceAlarm?.cancel()
        signOfLife?.cancel()
        finish(NIOTransportError(.lost, "the connection ended without a close frame"))
    }

    private func finish(_ error: any Error) { inbox.finish(error)?.resume(throwing: error) }

    // MARK: Time

    /// Wakes when the server has been silent for too long, should nothing come until then, and at no other time.
    private func watchSilence(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        silenceAlarm = context.eventLoop.scheduleTask(deadline: lastHeard + TimeAmount(limits.silenceMax)) {
            bound.value.checkSilence()
        }
    }

    private func checkSilence() {
        guard let context else { return }
        // What is not read is not heard.
        if isReadHeldBack { lastHeard = context.eventLoop.now }
        guard context.eventLoop.now - lastHeard >= TimeAmount(limits.silenceMax) else { return watchSilence(context) }
        finish(NIOTransportError(.silent, "nothing heard for \(limits.silenceMax)"))
        context.close(promise: nil)
    }

    private func holdBack(_ context: ChannelHandlerContext) {
        isReadHeldBack = true
        guard signOfLife == nil else { return }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        signOfLife = context.eventLoop.scheduleRepeatedTask(every: limits.signOfLifeEvery) { _ in
            bound.value.showLife()
        }
    }

    private func showLife() {
        guard let context, isReadHeldBack, !isClosing else { return }
        send(WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: ByteBuffer()), context)
    }

    private func resumeReading() {
        guard isReadHeldBack, inbox.hasRoom || isClosing, let context else { return }
        isReadHeldBack = false
        signOfLife?.cancel()
        signOfLife = nil
        lastHeard = context.eventLoop.now
        context.read()
    }

    private func send(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
}

extension EventLoop {
    fileprivate func scheduleRepeatedTask(
        every period: Duration, _ body: @escaping @Sendable (RepeatedTask) throws -> Void
    ) -> RepeatedTask {
        scheduleRepeatedTask(initialDelay: TimeAmount(period), delay: TimeAmount(period), body)
    }
}
