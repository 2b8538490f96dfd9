import Hummingbird
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import TidemarkEdge

/// A server on a port of its own whose sockets are handled by one closure, for the length of another.
enum EchoServer {
    /// - Parameter received: called on the socket's event loop for each message.
    static func running(
        tls: Bool = false, received: @escaping @Sendable (Socket, [UInt8]) -> Void = echo,
        writabilityChanged: @escaping @Sendable (Socket, Bool) -> Void = { _, _ in },
        _ body: @Sendable (Int, ServiceGroup) async throws -> Void
    ) async throws {
        let edge = Edge(limits: EdgeLimits()) { _ in
            ClosureOwner(received: received, writabilityChanged: writabilityChanged)
        }
        let bound = BoundPort()
        let router = Router()
        router.get("/json") { _, _ in #"{"ok":true}"# }
        router.post("/v1/echo") { request, _ -> ByteBuffer in try await request.body.collect(upTo: 1 << 20) }
        router.put("/v1/blob") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 20)
            return Response(status: .created, body: .init(byteBuffer: body))
        }
        router.get("/v1/blob") { request, _ in
            let seen = [request.headers[.authorization], request.uri.queryParameters.get("scope")].compactMap { $0 }
            return Response(
                status: .tooManyRequests, headers: [.retryAfter: "7"],
                body: .init(byteBuffer: ByteBuffer(string: seen.joined(separator: " "))))
        }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let app = Application(
            router: router, server: tls ? try .tls(edge.server, tlsConfiguration: tlsConfiguration()) : edge.server,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)), onServerRunning: bound.onServerRunning,
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), logger: logger)
        let services = ServiceGroup(configuration: .init(services: [app], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { bound.abandon() }
                try await services.run()
            }
            if let port = await bound.value() { try await body(port, services) }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }

    @Sendable static func echo(_ socket: Socket, _ text: [UInt8]) {
        socket.write(WebSocketFraming.text(text))
        socket.flush()
    }

    private static func tlsConfiguration() throws -> TLSConfiguration {
        .makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(TestCertificate.certificate.utf8))
                .map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(TestCertificate.privateKey.utf8), format: .pem)))
    }
}

private final class ClosureOwner: SocketOwner {
    private let onText: (Socket, [UInt8]) -> Void
    private let onWritability: (Socket, Bool) -> Void

    init(
        received: @escaping (Socket, [UInt8]) -> Void, writabilityChanged: @escaping (Socket, Bool) -> Void
    ) {
        onText = received
        onWritability = writabilityChanged
    }

    func opened(_ socket: Socket) { socket.markAuthenticated() }
    func received(_ socket: Socket, text: [UInt8]) { onText(socket, text) }
    func writabilityChanged(_ socket: Socket, isWritable: Bool) { onWritability(socket, isWritable) }
    func closed(_ socket: Socket) {}
}
