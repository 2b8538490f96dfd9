import NIOCore
import NIOHTTP1
import NIOPosix
import TidemarkLock

/// An HTTP server on the loopback address that gives one answer, or none before ``answer(_:_:_:)``.
final class KeySite: Sendable {
    fileprivate struct Answer {
        var status: HTTPResponseStatus
        var fields: HTTPHeaders
        var body: String
    }

    fileprivate let state = Lock((answer: Answer?.none, requests: [String]()))
    let port: Int

    private init(port: Int) { self.port = port }

    static func running(_ body: (KeySite) async throws -> Void) async throws {
        let sites = Lock(KeySite?.none)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture {
                    try child.pipeline.syncOperations.configureHTTPServerPipeline()
                    try child.pipeline.syncOperations.addHandler(KeySiteHandler { sites.withLock { $0 } })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let site = KeySite(port: channel.localAddress?.port ?? 0)
        sites.withLock { $0 = site }
        do {
            try await body(site)
        } catch {
            try? await channel.close()
            throw error
        }
        try await channel.close()
    }

    /// Method and target of each request so far.
    var requests: [String] { state.withLock { $0.requests } }

    func answer(_ status: HTTPResponseStatus, _ fields: HTTPHeaders, _ body: String) {
        state.withLock { $0.answer = Answer(status: status, fields: fields, body: body) }
    }
}

private final class KeySiteHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let site: () -> KeySite?
    private var request = ""

    init(_ site: @escaping () -> KeySite?) { self.site = site }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): request = "\(head.method.rawValue) \(head.uri)"
        case .body: break
        case .end:
            let answer = site()?.state.withLock { state in
                state.requests.append(request)
                return state.answer
            }
            guard let answer = answer ?? nil else { return }
            var fields = answer.fields
            fields.add(name: "Content-Length", value: "\(answer.body.utf8.count)")
            let head = HTTPResponseHead(version: .http1_1, status: answer.status, headers: fields)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: answer.body)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
