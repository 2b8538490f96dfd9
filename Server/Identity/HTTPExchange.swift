package import NIOCore
package import NIOHTTP1
import NIOPosix
import NIOSSL
import TidemarkLock

/// The reason why a server did not answer.
package struct HTTPFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// One request and its answer, on a connection of its own, within bounds on time and size. Redirects are not followed.
package struct HTTPExchange: Sendable {
    /// The whole answer, whatever its status.
    package struct Answer: Sendable {
        package var status: Int
        package var fields: HTTPHeaders
        package var body: [UInt8]
    }

    private let host: String
    private let port: Int
    private let usesTLS: Bool
    private let path: String
    private let bytesMax: Int
    private let timeout: TimeAmount
    /// The authorities to trust instead of the system's, PEM.
    package var trustRoots: [UInt8]?
    package var method = HTTPMethod.GET
    /// Header fields besides those of every request.
    package var fields = HTTPHeaders()
    package var body: [UInt8] = []
    /// Judges the address that was reached, before anything is sent.
    package var check: @Sendable (SocketAddress?) throws -> Void = { _ in }

    /// - Parameters:
    ///   - path: the path with its query.
    ///   - bytesMax: the bound on the answer's body.
    ///   - timeout: the bound on everything: name, connection, TLS, answer.
    package init(host: String, port: Int, usesTLS: Bool, path: String, bytesMax: Int, timeout: TimeAmount) {
        self.host = host
        self.port = port
        self.usesTLS = usesTLS
        self.path = path
        self.bytesMax = bytesMax
        self.timeout = timeout
    }

    /// Sends the request and returns the answer.
    package func answer(on group: any EventLoopGroup) async throws(HTTPFailure) -> Answer {
        let loop = group.next()
        let promise = loop.makePromise(of: Answer.self)
        let channels = ExchangeChannels()
        let alarm = loop.scheduleTask(in: timeout) {
            promise.fail(HTTPFailure("no answer in time"))
            channels.close()
        }
        ClientBootstrap(group: loop).connectTimeout(min(timeout, .seconds(10))).connect(host: host, port: port)
            .flatMap { channel -> EventLoopFuture<Void> in
                channels.add(channel)
                return channel.eventLoop.submit { try begin(on: channel, promise) }
            }
            .whenFailure { promise.fail($0) }
        do {
            defer {
                alarm.cancel()
                channels.close()
            }
            return try await withTaskCancellationHandler {
                try await promise.futureResult.get()
            } onCancel: {
                promise.fail(HTTPFailure("cancelled"))
            }
        } catch {
            throw error as? HTTPFailure ?? HTTPFailure("\(error)")
        }
    }

    /// Checks the address and sends the request; called on the channel's loop when it is connected.
    private func begin(on channel: any Channel, _ promise: EventLoopPromise<Answer>) throws {
        try check(channel.remoteAddress)
        // An address has no server name to indicate; the certificate is then checked against the address.
        let isAddress = Network.bytes(host) != nil
        let pipeline = channel.pipeline.syncOperations
        if usesTLS {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            if let trustRoots {
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(trustRoots))
            }
            let context = try NIOSSLContext(configuration: configuration)
            try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host))
        }
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(AnswerCollector(promise, bytesMax: bytesMax))
        let name = host.contains(":") ? "[\(host)]" : host
        var fields: HTTPHeaders = [
            "Host": port == (usesTLS ? 443 : 80) ? name : "\(name):\(port)", "Accept-Encoding": "identity",
            "Connection": "close", "User-Agent": "tidemark",
        ]
        fields.add(contentsOf: self.fields)
        if method != .GET { fields.add(name: "Content-Length", value: "\(body.count)") }
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: fields)
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        if method != .GET {
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
    private var answer: HTTPExchange.Answer?

    init(_ promise: EventLoopPromise<HTTPExchange.Answer>, bytesMax: Int) {
        self.promise = promise
        self.bytesMax = bytesMax
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): answer = .init(status: Int(head.status.code), fields: head.headers, body: [])
        case .body(let part):
            guard let answer, answer.body.count + part.readableBytes <= bytesMax else {
                return fail("more than \(bytesMax) bytes", context)
            }
            self.answer?.body += part.readableBytesView
        case .end:
            if let answer { promise.succeed(answer) }
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Without TLS's farewell, the end of the connection reports an answer that is incomplete.
        if case .uncleanShutdown? = error as? NIOSSLError { return }
        fail("\(error)", context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        promise.fail(HTTPFailure("the connection ended before the answer did"))
    }

    private func fail(_ reason: String, _ context: ChannelHandlerContext) {
        answer = nil
        promise.fail(HTTPFailure(reason))
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
