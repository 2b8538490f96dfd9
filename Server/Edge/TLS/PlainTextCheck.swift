import NIOCore

/// Checks the first byte where TLS is spoken. A client of plain HTTP gets one answer in plain HTTP. Removed after that
/// byte.
final class PlainTextCheck: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The first byte of every handshake (RFC 8446 §5.1).
    private static let handshake: UInt8 = 22
    private static let answer: String = {
        let body = #"{"code":"invalid","msg":"this port speaks TLS: call it by https or wss"}"#
        let fields = [
            "HTTP/1.1 400 Bad Request", "Content-Type: application/json", "Content-Length: \(body.utf8.count)",
            "Connection: close",
        ]
        return fields.joined(separator: "\r\n") + "\r\n\r\n" + body
    }()

    private let ledger: ConnectionLedger
    private let closeDeadline: TimeAmount
    private var isRefused = false
    private var alarm: Scheduled<Void>?

    init(limits: EdgeLimits, ledger: ConnectionLedger) {
        self.ledger = ledger
        closeDeadline = TimeAmount(limits.closeDeadline)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        alarm?.cancel()
        alarm = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        guard let first = unwrapInboundIn(data).readableBytesView.first else { return }
        guard first == Self.handshake else { return refuse(first, context) }
        context.fireChannelRead(data)
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if isRefused, event as? ChannelEvent == .inputClosed { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    /// Answers and closes. This handler is before TLS, so that its bytes are sent unencrypted. Our half is closed
    /// first: closing both with the peer's bytes unread would make the kernel send a reset, which can overtake the
    /// answer.
    private func refuse(_ first: UInt8, _ context: ChannelHandlerContext) {
        isRefused = true
        ledger.observe(.unopened(.plainText, ledger.peer(of: context.channel)))
        // Only an HTTP method begins with a capital letter.
        guard (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else { return context.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: Self.answer))).assumeIsolated().whenComplete { _ in
            context.close(mode: .output, promise: nil)
        }
        alarm = context.eventLoop.assumeIsolated().scheduleTask(in: closeDeadline) { context.close(promise: nil) }
    }
}
