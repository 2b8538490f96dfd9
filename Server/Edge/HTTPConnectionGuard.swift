import NIOCore
import NIOHTTP1

/// Keeps the deadlines and bounds of one HTTP connection and judges WebSocket handshakes, before other handlers see
/// them.
///
/// It is right behind the HTTP codec, and is removed with it when the connection becomes a WebSocket.
final class HTTPConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let ledger: ConnectionLedger
    private let sites: SiteCheck
    /// True if the connection arrived when all slots were taken: it may ask for the server's health, once.
    private let isProbe: Bool
    private var state: HTTPConnectionState
    private var hasAnswerBegun = false
    /// True when the answer that is being written announces itself as the last.
    private var isLastByItself = false
    private var alarm: (due: NIODeadline, task: Scheduled<Void>)?

    init(limits: EdgeLimits, ledger: ConnectionLedger, sites: SiteCheck, isProbe: Bool, now: NIODeadline) {
        self.ledger = ledger
        self.sites = sites
        self.isProbe = isProbe
        state = HTTPConnectionState(now: now, limits: isProbe ? limits.forProbe : limits)
        // As in a shutdown, its first answer is its last.
        if isProbe { _ = state.quiesce() }
    }

    func handlerAdded(context: ChannelHandlerContext) { arm(context) }

    func handlerRemoved(context: ChannelHandlerContext) {
        alarm?.task.cancel()
        alarm = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !state.isRefused else { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            state.head(at: context.eventLoop.now, bodyBytesMax: Self.isForBlob(head) ? state.limits.blobBytesMax : nil)
            guard ledger.begin(head.headers, on: context.channel) else { return refuse(.noConnectionLeft, context) }
            if let refusal = judge(&head, context) { return refuse(refusal, context) }
            if head.version == .http1_1, let expectation = head.headers.first(name: "expect") {
                guard expectation.lowercased() == "100-continue" else { return refuse(.expectationFailed, context) }
                goOn(context)
            }
            pass(wrapInboundOut(.head(head)), context)
        case .body(let bytes):
            guard state.body(bytes.readableBytes, at: context.eventLoop.now) else {
                return refuse(.bodyTooLarge, context)
            }
            pass(data, context)
        case .end:
            guard !state.requestEnd(at: context.eventLoop.now) else { return context.close(promise: nil) }
            pass(data, context)
        }
    }

    /// Lets a client send the body that it holds back until it receives this. While an earlier answer is unwritten,
    /// nothing is sent: such a client waits only for a moment (RFC 9110 §10.1.1).
    private func goOn(_ context: ChannelHandlerContext) {
        guard !hasAnswerBegun, state.unanswered == 1 else { return }
        context.writeAndFlush(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
    }

    /// Sets the alarm first: the data may be an upgrade, which removes this handler from the pipeline.
    private func pass(_ data: NIOAny, _ context: ChannelHandlerContext) {
        arm(context)
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !state.isRefused else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            hasAnswerBegun = true
            isLastByItself = head.headers[canonicalForm: "connection"].contains { $0.lowercased() == "close" }
            if state.isLastAnswer { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body(let bytes):
            state.answer(bytes.readableBytes)
            context.write(data, promise: promise)
        case .end:
            hasAnswerBegun = false
            // With bytes of the request unread, closing would send a reset, which can overtake the answer.
            let endsHere = isLastByItself && state.isAnswering
            let isLast = state.answerEnd(at: context.eventLoop.now) || endsHere
            arm(context)
            guard isLast || isOneTooMany(context) else {
                return context.write(data, promise: promise)
            }
            context.writeAndFlush(data, promise: promise)
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error as? HTTPParserError {
        case nil: context.fireErrorCaught(error)
        case .headerOverflow?: refuse(.headersTooLarge, context, isParsed: false)
        case .some: refuse(.malformed, context, isParsed: false)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent, state.quiesce() { return context.close(promise: nil) }
        if state.isRefused, event as? ChannelEvent == .inputClosed { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    /// Whether the connection is idle from now on, and its address has enough idle ones.
    private func isOneTooMany(_ context: ChannelHandlerContext) -> Bool {
        state.unanswered == 0 && !ledger.markIdle(context.channel)
    }

    private func judge(_ head: inout HTTPRequestHead, _ context: ChannelHandlerContext) -> HTTPRefusal? {
        if isProbe, !Self.isProbe(head) { return .noConnectionLeft }
        if let fault = sites.fault(hosts: head.headers["host"], origins: head.headers["origin"]) {
            ledger.observe(.misdirected(fault, ledger.peer(of: context.channel)))
            return fault.refusal
        }
        if HandshakeCheck.isForSocket(head) {
            guard state.isFirstRequest else { return .upgradeRequired("open a new connection for a WebSocket") }
            return HandshakeCheck.refusal(of: head)
        }
        // No other upgrade is supported: RFC 9110 §7.8 lets a server ignore the header.
        head.headers.remove(name: "upgrade")
        // A number that does not fit is too large: the parser rejects everything else.
        guard let length = head.headers.first(name: "content-length").map({ Int($0) ?? .max }) else { return nil }
        if Self.isForBlob(head), let bytesMax = state.limits.blobBytesMax {
            return length > bytesMax ? .blobTooLarge(bytesMax) : nil
        }
        return length > state.limits.requestBodyBytesMax ? .bodyTooLarge : nil
    }

    private static func isProbe(_ head: HTTPRequestHead) -> Bool {
        [.GET, .HEAD].contains(head.method) && (head.uri == "/healthz" || head.uri == "/readyz")
    }

    private static func isForBlob(_ head: HTTPRequestHead) -> Bool {
        head.method == .PUT && head.uri.hasPrefix("/v1/blobs/")
    }

    /// Answers if the next due answer is this request's, then closes our half. Closing both with the peer's bytes
    /// unread would make the kernel send a reset, which can overtake the answer. ``EdgeLimits/closeDeadline`` ends the
    /// other half.
    private func refuse(_ refusal: HTTPRefusal, _ context: ChannelHandlerContext, isParsed: Bool = true) {
        let isItsTurn = !hasAnswerBegun && state.unanswered == (isParsed ? 1 : 0)
        guard !state.isRefused, isItsTurn else { return context.close(promise: nil) }
        state.refused(at: context.eventLoop.now)
        context.write(wrapOutboundOut(.head(refusal.head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(refusal.body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
            context.close(mode: .output, promise: nil)
        }
        arm(context)
    }

    /// Sets the one timer, which follows the state lazily: it is set anew when it fires early, and before that only if
    /// the deadline moved to an earlier time. A busy connection therefore sets one timer a minute, not one a request.
    private func arm(_ context: ChannelHandlerContext) {
        let deadline = state.deadline
        if let alarm {
            guard deadline < alarm.due else { return }
            alarm.task.cancel()
        }
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.alarmRang(context) }
        alarm = (deadline, task)
    }

    private func alarmRang(_ context: ChannelHandlerContext) {
        alarm = nil
        guard state.deadline > context.eventLoop.now else { return context.close(promise: nil) }
        arm(context)
    }
}
