import NIOCore
import NIOHTTP1

/// Collects one answer within a bound of bytes and of time, then closes the connection.
final class AnswerCollector: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let bodyBytesMax: Int
    private let timeout: Duration
    private let promise: EventLoopPromise<NIOHTTPAnswer>
    private var head: HTTPResponseHead?
    private var body = ByteBuffer()
    private var isDone = false
    private var alarm: Scheduled<Void>?

    init(bodyBytesMax: Int, timeout: Duration, promise: EventLoopPromise<NIOHTTPAnswer>) {
        self.bodyBytesMax = bodyBytesMax
        self.timeout = timeout
        self.promise = promise
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { startTimer(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        startTimer(context)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body(var part):
            guard body.readableBytes + part.readableBytes <= bodyBytesMax else {
                return fail(NIOTransportError(.tooLarge, "the answer is longer than \(bodyBytesMax) bytes"), context)
            }
            body.writeBuffer(&part)
        case .end:
            guard let head, !isDone else { return }
            isDone = true
            let headers = head.headers.map { (name: $0.name, value: $0.value) }
            promise.succeed(
                NIOHTTPAnswer(status: Int(head.status.code), headers: headers, body: Array(body.readableBytesView)))
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(NIOTransportError(error is HTTPParserError ? .protocolViolation : .lost, "\(error)"), context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        alarm?.cancel()
        fail(NIOTransportError(.lost, "the connection ended before the answer did"), context)
    }

    private func startTimer(_ context: ChannelHandlerContext) {
        alarm = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
            self.fail(NIOTransportError(.timedOut, "no whole answer within \(self.timeout)"), context)
        }
    }

    private func fail(_ error: NIOTransportError, _ context: ChannelHandlerContext) {
        guard !isDone else { return }
        isDone = true
        promise.fail(error)
        context.close(promise: nil)
    }
}
