import NIOCore

/// Waits for a proxy's header, which must arrive first and soon, passes the client's address to the ledger, and is
/// removed.
final class ProxyHeaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let limits: EdgeLimits
    private let ledger: ConnectionLedger
    private var received = ByteBuffer()
    private var isDone = false
    private var alarm: Scheduled<Void>?

    init(limits: EdgeLimits, ledger: ConnectionLedger) {
        self.limits = limits
        self.ledger = ledger
    }

    func handlerAdded(context: ChannelHandlerContext) {
        alarm = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.proxyHeaderDeadline)) {
            self.refuse(context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        alarm?.cancel()
        alarm = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDone else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        do throws(ProxyHeader.Fault) {
            guard let header = try ProxyHeader.take(from: &received, bytesMax: limits.proxyHeaderBytesMax) else {
                return
            }
            isDone = true
            if case .of(let client) = header, !ledger.place(context.channel, at: client) {
                return context.close(promise: nil)
            }
            let rest = received
            received = ByteBuffer()
            if rest.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(rest)) }
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        } catch {
            refuse(context)
        }
    }

    private func refuse(_ context: ChannelHandlerContext) {
        guard !isDone else { return }
        isDone = true
        ledger.observe(.unopened(.proxyHeader, context.remoteAddress))
        context.close(promise: nil)
    }
}
