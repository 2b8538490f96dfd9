import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import TidemarkCommandLine

/// One call to a running server, over HTTP, with TLS or without.
struct OperatorCall {
    private static let answerBytesMax = 16 * 1_048_576
    private static let timeMax = TimeAmount.seconds(60)

    private let host: String
    private let port: Int
    private let head: HTTPRequestHead
    private let body: [UInt8]
    private let server: String
    /// `nil` without TLS.
    private let tls: NIOSSLContext?

    /// - Parameter trustRoots: a PEM file of the authorities to trust instead of the system's.
    /// - Throws: `CommandFailure` for an invalid address, or a file of authorities that cannot be read.
    init(
        _ method: String, _ path: String, at server: String, token: String, trustRoots: String? = nil, body: [UInt8]
    ) throws {
        guard let url = URL(string: server), ["http", "https"].contains(url.scheme), let host = url.host(),
            url.path().count <= 1
        else {
            throw CommandFailure("--server must be http://HOST:PORT or https://HOST:PORT, not '\(server)'")
        }
        tls = url.scheme == "https" ? try Self.context(trustRoots) : nil
        self.server = server
        self.host = host
        self.body = body
        port = url.port ?? (url.scheme == "https" ? 443 : 80)
        var headers = HTTPHeaders([
            ("Host", "\(host):\(port)"), ("Authorization", "Bearer \(token)"), ("Connection", "close"),
        ])
        if !body.isEmpty {
            headers.add(name: "Content-Type", value: "application/json")
            headers.add(name: "Content-Length", value: "\(body.count)")
        }
        head = HTTPRequestHead(version: .http1_1, method: .RAW(value: method), uri: path, headers: headers)
    }

    /// Returns a path with its query.
    static func path(_ path: String, _ members: [(String, String?)]) -> String {
        let query = members.compactMap { name, value in
            value.flatMap { $0.addingPercentEncoding(withAllowedCharacters: unreserved) }.map { "\(name)=\($0)" }
        }
        return path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    private static func context(_ trustRoots: String?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let trustRoots { configuration.trustRoots = .file(trustRoots) }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw CommandFailure("\(trustRoots ?? "the system's authorities"): no certificates that can be read")
        }
    }

    /// - Throws: `CommandFailure` with the reason why there is no answer.
    func answer() async throws -> (status: Int, body: [UInt8]) {
        do {
            let promise = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: (Int, [UInt8]).self)
            let bootstrap = ClientBootstrap(group: promise.futureResult.eventLoop).connectTimeout(.seconds(10))
                .channelInitializer { [tls, host] channel in
                    channel.eventLoop.makeCompletedFuture {
                        if let tls {
                            // An address has no name to indicate; the certificate is then checked against the address.
                            let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
                            try channel.pipeline.syncOperations.addHandler(
                                NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host))
                        }
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        try channel.pipeline.syncOperations.addHandler(
                            AnswerHandler(promise, bytesMax: Self.answerBytesMax))
                    }
                }
            let channel: any Channel
            do {
                channel = try await bootstrap.connect(host: host, port: port).get()
            } catch {
                promise.fail(error)
                throw error
            }
            let late = channel.eventLoop.scheduleTask(in: Self.timeMax) {
                promise.fail(CommandFailure("no answer within a minute"))
            }
            defer {
                late.cancel()
                channel.close(promise: nil)
            }
            channel.write(HTTPClientRequestPart.head(head), promise: nil)
            channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: body))), promise: nil)
            channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
            let (status, bytes) = try await promise.futureResult.get()
            return (status, bytes)
        } catch {
            throw CommandFailure("\(server) does not answer: is 'tidemark serve' running there? (\(error))")
        }
    }
}

/// Collects one answer.
private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let promise: EventLoopPromise<(Int, [UInt8])>
    private let bytesMax: Int
    private var status = 0
    private var bytes: [UInt8] = []

    init(_ promise: EventLoopPromise<(Int, [UInt8])>, bytesMax: Int) {
        self.promise = promise
        self.bytesMax = bytesMax
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): status = Int(head.status.code)
        case .body(let part):
            guard bytes.count + part.readableBytes <= bytesMax else {
                promise.fail(CommandFailure("the answer is longer than \(bytesMax) bytes"))
                return context.close(promise: nil)
            }
            bytes += part.readableBytesView
        case .end: promise.succeed((status, bytes))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // Has no effect after the end of the answer.
        promise.fail(CommandFailure("the connection ended"))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The server closed without TLS's farewell. If the answer is incomplete, the end of the connection reports it.
        if case .uncleanShutdown? = error as? NIOSSLError { return }
        promise.fail(error)
        context.close(promise: nil)
    }
}
