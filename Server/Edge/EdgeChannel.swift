import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOSSL

/// The use of a connection, known once its first request was read.
enum EdgeOutcome: Sendable {
    case http(NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>)
    case webSocket
    case refused
}

/// A connection that the HTTP server handles.
struct EdgeConnection: ServerChildChannelValue {
    let channel: any Channel
    let outcome: EventLoopFuture<EdgeOutcome>
}

/// Sets up each accepted connection for the HTTP server: HTTP/1.1 whose first request may become a WebSocket.
struct EdgeChannel: HTTPChannelHandler {
    let responder: Responder
    let limits: EdgeLimits
    let ledger: ConnectionLedger
    let sites: SiteCheck
    let loops: LoopDirectory
    let tls: (@Sendable () -> NIOSSLContext)?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<EdgeConnection> {
        channel.eventLoop.makeCompletedFuture {
            // A peer that has already left has no address any more: its bytes are useless.
            guard channel.remoteAddress != nil || channel.localAddress?.protocol == .unix else {
                channel.close(promise: nil)
                return EdgeConnection(channel: channel, outcome: channel.eventLoop.makeSucceededFuture(.refused))
            }
            switch ledger.admit(channel) {
            case .everything: return EdgeConnection(channel: channel, outcome: try configure(channel, isProbe: false))
            case .probe: return EdgeConnection(channel: channel, outcome: try configure(channel, isProbe: true))
            case .nothing:
                // A failed future here would end the listening channel: refusal is an outcome, not an error.
                channel.close(promise: nil)
                return EdgeConnection(channel: channel, outcome: channel.eventLoop.makeSucceededFuture(.refused))
            }
        }
    }

    func handle(value: EdgeConnection, logger: Logger) async {
        await withTaskCancellationHandler {
            do {
                switch try await value.outcome.get() {
                case .http(let channel):
                    await handleHTTP(asyncChannel: channel, logger: logger)
                case .webSocket:
                    // The event loop does the work; this task only makes a graceful shutdown wait for the socket.
                    try await value.channel.closeFuture.get()
                case .refused:
                    break
                }
            } catch {
                // The peer left, or was refused, before its first request was complete.
                logger.debug("Connection ended before its first request", metadata: ["error": "\(error)"])
                value.channel.close(promise: nil)
            }
        } onCancel: {
            // Neither future above knows of cancellation; the end of the channel completes both.
            value.channel.close(promise: nil)
        }
    }

    private func configure(_ channel: any Channel, isProbe: Bool) throws -> EventLoopFuture<EdgeOutcome> {
        var decoderLimits = NIOHTTPDecoderLimitConfiguration()
        decoderLimits.maxHeaderFieldSize = limits.headerFieldBytesMax
        decoderLimits.maxHeaderListSize = limits.headerListBytesMax
        decoderLimits.maxHeaderFieldCount = limits.headerFieldCountMax
        let decoder = ByteToMessageHandler(
            HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: decoderLimits))
        let encoder = HTTPResponseEncoder()
        let guardian = HTTPConnectionGuard(
            limits: limits, ledger: ledger, sites: sites, isProbe: isProbe, now: channel.eventLoop.now)
        let upgrade = NIOTypedHTTPServerUpgradeHandler<EdgeOutcome>(
            httpEncoder: encoder,
            extraHTTPHandlers: [decoder, guardian],
            upgradeConfiguration: .init(
                upgraders: [SyncUpgrader(limits: limits, ledger: ledger, loops: loops)],
                notUpgradingCompletionHandler: continueAsHTTP))
        let pipeline = channel.pipeline.syncOperations
        if ledger.proxies?.sendsHeader == true, ledger.isTrusted(channel.remoteAddress) {
            try pipeline.addHandler(ProxyHeaderHandler(limits: limits, ledger: ledger))
        }
        if let tls {
            try pipeline.addHandler(PlainTextCheck(limits: limits, ledger: ledger))
            try pipeline.addHandler(NIOSSLServerHandler(context: tls()))
            try pipeline.addHandler(TLSErrors(ledger: ledger))
        }
        try pipeline.addHandler(encoder)
        try pipeline.addHandler(decoder)
        try pipeline.addHandler(guardian)
        try pipeline.addHandler(upgrade)
        return upgrade.upgradeResultFuture
    }

    @Sendable private func continueAsHTTP(_ channel: any Channel) -> EventLoopFuture<EdgeOutcome> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(HTTP1ToHTTPServerCodec(secure: tls != nil))
            let configuration = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>.Configuration(
                isOutboundHalfClosureEnabled: true)
            return .http(try NIOAsyncChannel(wrappingChannelSynchronously: channel, configuration: configuration))
        }
    }
}
