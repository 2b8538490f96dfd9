package import NIOCore
package import NIOHTTP1
import NIOPosix
package import NIOSSL
import TidemarkLock

/// The reason why an exchange has no answer.
package struct HTTPExchangeError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// One request over HTTP on a connection of its own, and its whole answer. Redirects are not followed.
package struct HTTPExchange: Sendable {
    /// The whole answer.
    package struct Answer: Sendable {
        package var status: HTTPResponseStatus
        package var fields: HTTPHeaders
        package var body: [UInt8]
    }

    package var host: String
    package var port: Int
    package var head: HTTPRequestHead
    package var body: [UInt8]
    /// `nil` without TLS.
    package var tls: NIOSSLContext?
    /// The bound on everything: name, connection, TLS, answer.
    package var timeout: TimeAmount
    /// The bound on the answer's body.
    package var bytesMax: Int
    /// Checks the connection's address before anything is sent.
    package var checkAddress: @Sendable (SocketAddress?) throws -> Void = { _ in }
    /// Checks the status before the body is read.
    package var checkStatus: @Sendable (HTTPResponseStatus) throws -> Void = { _ in }

    private static let connectMax = TimeAmount.seconds(10)

    package init(
        host: String, port: Int, head: HTTPRequestHead, body: [UInt8], tls: NIOSSLContext?, timeout: TimeAmount,
        bytesMax: Int
    ) {
        self.host = host
        self.port = port
        self.head = head
        self.body = body
        self.tls = tls
        self.timeout = timeout
        self.bytesMax = bytesMax
    }

    /// Makes the context of a client.
    ///
    /// - Parameter trustRoots: the authorities to trust instead of the system's.
    package static func tls(trusting trustRoots: NIOSSLTrustRoots?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let trustRoots { configuration.trustRoots = trustRoots }
        return try NIOSSLContext(configuration: configuration)
    }

    /// Sends the request and returns the answer.
    ///
    /// - Throws: ``HTTPExchangeError``, an error of the two checks or of the network.
    package func answer(on group: any EventLoopGroup) async throws -> Answer {
        let loop = group.next()
        let promise = loop.makePromise(of: Answer.self)
        let channels = ExchangeChannels()
        let alarm = loop.scheduleTask(in: timeout) {
            promise.fail(HTTPExchangeError("no answer in time"))
            channels.close()
        }
        ClientBootstrap(group: loop).connectTimeout(min(timeout, Self.connectMax)).connect(host: host, port: port)
            .flatMap { channel -> EventLoopFuture<Void> in
                channels.add(channel)
                return channel.eventLoop.submit { try begin(on: channel, promise) }
            }
            .whenFailure { promise.fail($0) }
        defer {
            alarm.cancel()
            channels.close()
        }
        return try await withTaskCancellationHandler {
            try await promise.futureResult.get()
        } onCancel: {
            promise.fail(HTTPExchangeError("cancelled"))
        }
    }

    /// Checks the address and sends the request; called on the channel's loop when it is connected.
    private func begin(on channel: any Channel, _ promise: EventLoopPromise<Answer>) throws {
        try checkAddress(channel.remoteAddress)
        let pipeline = channel.pipeline.syncOperations
        if let tls {
            // An address has no server name to indicate; the certificate is then checked against the address.
            let name = Network.bytes(host) == nil ? host : nil
            try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name))
        }
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(AnswerCollector(promise, bytesMax: bytesMax, checkStatus))
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        if !body.isEmpty {
            channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: body))), promise: nil)
        }
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    }
}

/// Collects one answer within its bound.
private final class AnswerCollector: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let promise: EventLoopPromise<HTTPExchange.Answer>
    private let bytesMax: Int
    private let check: @Sendable (HTTPResponseStatus) throws -> Void
    private var answer: HTTPExchange.Answer?

    init(
        _ promise: EventLoopPromise<HTTPExchange.Answer>, bytesMax: Int,
        _ check: @escaping @Sendable (HTTPResponseStatus) throws -> Void
    ) {
        self.promise = promise
        self.bytesMax = bytesMax
        self.check = check
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            do { try check(head.status) } catch { return fail(error, context) }
            answer = HTTPExchange.Answer(status: head.status, fields: head.headers, body: [])
        case .body(let part):
            guard let answer, answer.body.count + part.readableBytes <= bytesMax else {
                return fail(HTTPExchangeError("more than \(bytesMax) bytes"), context)
            }
            self.answer?.body += part.readableBytesView
        case .end:
            if let answer { promise.succeed(answer) }
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(error, context) }

    func handlerRemoved(context: ChannelHandlerContext) {
        promise.fail(HTTPExchangeError("the connection ended before the answer did"))
    }

    private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
        answer = nil
        promise.fail(error)
        context.close(promise: nil)
    }
}

/// The connection of one exchange, which is closed with it, even if it is established later.
private final class ExchangeChannels: Sendable {
    private let state = Lock((channels: [any Channel](), isClosed: false))

    func add(_ channel: any Channel) {
        let isClosed = state.withLock { state in
            state.channels.append(channel)
            return state.isClosed
        }
        if isClosed { channel.close(promise: nil) }
    }

    func close() {
        let channels = state.withLock { state in
            state.isClosed = true
            return state.channels
        }
        for channel in channels { channel.close(promise: nil) }
    }
}
