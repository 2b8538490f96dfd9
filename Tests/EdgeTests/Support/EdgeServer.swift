import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import TidemarkEdge

/// A running server on a port of its own, for the length of a closure.
struct EdgeServer {
    let port: Int
    let edge: Edge
    let services: ServiceGroup

    /// Runs `body` against an edge whose sockets get their owners from `makeOwner`, then stops the server.
    static func running(
        _ limits: EdgeLimits = EdgeLimits(), sites: SiteCheck = SiteCheck(),
        owner makeOwner: @escaping @Sendable (any EventLoop) -> any SocketOwner = { _ in EchoOwner() },
        _ body: @Sendable (EdgeServer) async throws -> Void
    ) async throws {
        var logger = Logger(label: "test")
        logger.logLevel = .error
        let edge = Edge(limits: limits, sites: sites, makeOwner: makeOwner)
        let bound = BoundPort()
        let router = Router()
        router.get("/json") { _, _ in "{}" }
        router.get("/healthz") { _, _ in "well" }
        router.post("/echo") { request, _ -> ByteBuffer in try await request.body.collect(upTo: 1 << 20) }
        let app = Application(
            router: router, server: edge.server, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: bound.onServerRunning,
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), logger: logger)
        let services = ServiceGroup(configuration: .init(services: [app], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { bound.abandon() }
                try await services.run()
            }
            if let port = await bound.value() {
                try await body(EdgeServer(port: port, edge: edge, services: services))
            }
            // Waits until the peers' sockets have ended: an edge that forgot one would hang here.
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }
}

/// Sends back each message and keeps nothing.
final class EchoOwner: SocketOwner {
    func opened(_ socket: Socket) {}

    func received(_ socket: Socket, text: [UInt8]) {
        socket.write(WebSocketFraming.text(text))
        socket.flush()
    }

    func writabilityChanged(_ socket: Socket, isWritable: Bool) {}
    func closed(_ socket: Socket) {}
}
