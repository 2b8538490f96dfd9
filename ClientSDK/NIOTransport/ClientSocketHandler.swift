import NIOCore
import NIOWebSocket
import Tidemark
import TidemarkLock

/// The last handler of a client's WebSocket: assembles messages, answers pings, and executes the decisions of the
/// machine that it shares with Apple's transport, about reading, silence and the end.
final class ClientSocketHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame
    typealias Waiter = CheckedContinuation<[[UInt8]], any Error>

    private let limits: NIOTransportLimits
    private var assembly: MessageAssembly
    /// Shared with the connection, so that taking a message needs no turn of the event loop.
    let machine: Lock<SocketMachine<Waiter>>
    private var context: ChannelHandlerContext?
    private var alarm: Scheduled<Void>?

    init(messageBytesMax: Int, limits: NIOTransportLimits) {
        self.limits = limits
        assembly = MessageAssembly(bytesMax: messageBytesMax, fragmentsMax: limits.fragmentsPerMessageMax)
        // The time is set when the handler is added to a channel.
        machine = Lock(
            SocketMachine(
                messagesMax: limits.waitingMessagesMax, bytesMax: messageBytesMax, timing: limits.silence, now: .zero))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        machine.withLock { $0.heard(now: context.eventLoop.now.uptime) }
        setAlarm(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) { lose() }

    func channelInactive(context: ChannelHandlerContext) {
        lose()
        context.fireChannelInactive()
    }

    func read(context: ChannelHandlerContext) {
        // The alarm changes when reading stops.
        guard machine.withLock({ $0.mayRead(now: context.eventLoop.now.uptime) }) else { return setAlarm(context) }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let now = context.eventLoop.now.uptime
        machine.withLock { $0.heard(now: now) }
        let frame = unwrapInboundIn(data)
        do throws(MessageAssembly.Violation) {
            try MessageAssembly.check(frame)
            switch frame.opcode {
            case .ping:
                guard !machine.isClosing else { return }
                send(WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.data), context)
            case .pong: break
            case .connectionClose: closedByServer(frame.data, context)
            default:
                guard let message = try assembly.add(frame) else { return }
                machine.withLock { $0.arrived(message, now: now) }?.resume(returning: [message])
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

    func close(code: UInt16, reason: String) {
        guard let context, !machine.isClosing else { return }
        finish(TransportClosed(code: code, reason: reason))
        sendClose(code, reason, context)
        // The server's close frame may follow messages that nobody will take: read on, and drop them.
        resumeReading()
    }

    // MARK: Ends

    private func closedByServer(_ payload: ByteBuffer, _ context: ChannelHandlerContext) {
        var reason = payload
        let code = reason.readInteger(as: UInt16.self)
        finish(TransportClosed(code: code ?? 1005, reason: String(buffer: reason)))
        guard machine.withLock({ $0.close() }) else { return context.close(promise: nil) }
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
        guard machine.withLock({ $0.close() }) else { return }
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
        alarm?.cancel()
        finish(NIOTransportError(.lost, "the connection ended without a close frame"))
    }

    private func finish(_ error: any Error) { machine.withLock { $0.end(error) }?.resume(throwing: error) }

    // MARK: Time

    /// Sets the alarm to the machine's next deadline; anything received until then postpones it.
    private func setAlarm(_ context: ChannelHandlerContext) {
        alarm?.cancel()
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let due = NIODeadline(uptime: machine.withLock { $0.due })
        alarm = context.eventLoop.scheduleTask(deadline: due) { bound.value.look() }
    }

    private func look() {
        guard let context else { return }
        switch machine.withLock({ $0.look(now: context.eventLoop.now.uptime) }) {
        case .nothing: break
        case .ask:
            send(WebSocketFrame(fin: true, opcode: .ping, maskKey: .random(), data: ByteBuffer()), context)
        case .showLife:
            guard !machine.isClosing else { break }
            send(WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: ByteBuffer()), context)
        case .silent:
            finish(NIOTransportError(.silent, "the server sent nothing for \(limits.silence.silenceMax)"))
            return context.close(promise: nil)
        }
        setAlarm(context)
    }

    /// Reads on if reading was held back and there is room again.
    func resumeReading() {
        guard let context, machine.withLock({ $0.resume(now: context.eventLoop.now.uptime) }) else { return }
        setAlarm(context)
        context.read()
    }

    private func send(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
}

extension Lock<SocketMachine<ClientSocketHandler.Waiter>> {
    /// True when a close frame was sent.
    fileprivate var isClosing: Bool { withLock { $0.isClosing } }

    /// Resumes the waiter with messages, now or when one arrives. On any thread.
    ///
    /// - Returns: true when the handler is to read on.
    func take(_ id: UInt64, atMost most: Int, _ waiter: ClientSocketHandler.Waiter) -> Bool {
        let (delivery, isToResume) = withLock { ($0.take(id, atMost: most, waiter), $0.isToResume) }
        switch delivery {
        case nil: break
        case .messages(let messages)?: waiter.resume(returning: messages)
        case .failure(let error as AlreadyReceiving)?:
            waiter.resume(throwing: NIOTransportError(.alreadyReceiving, error.description))
        case .failure(let error)?: waiter.resume(throwing: error)
        }
        return isToResume
    }

    /// Ends the wait of a cancelled task. On any thread.
    func cancelTake(_ id: UInt64) { withLock { $0.cancel(id) }?.resume(throwing: CancellationError()) }
}

extension NIODeadline {
    fileprivate init(uptime: Duration) { self = NIODeadline.uptimeNanoseconds(0) + TimeAmount(uptime) }

    fileprivate var uptime: Duration { .nanoseconds(Int64(clamping: uptimeNanoseconds)) }
}
