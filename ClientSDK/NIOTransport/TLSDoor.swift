package import NIOCore
import NIOPosix
import NIOSSL

/// A local port that forwards to a server with TLS, for clients without TLS: bytes pass unchanged in both directions.
package struct TLSDoor: Sendable {
    /// The port on 127.0.0.1.
    package let port: Int

    /// - Parameter trustRootsFile: PEM file of the authorities to trust instead of the system's.
    /// - Throws: ``NIOTransportError``.
    package static func open(
        to host: String, port: Int, trustRootsFile: String?, group: any EventLoopGroup
    ) async throws -> TLSDoor {
        let dialer = try Dialer(
            host: host, port: port, useTLS: true, trustRootsFile: trustRootsFile, timeout: .seconds(10), group: group)
        guard let tls = dialer.tls else { throw NIOTransportError(.connectFailed, "TLS is not set up") }
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4_096)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { inner in Self.join(inner, host, port, tls) }
        do {
            let listener = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
            return TLSDoor(port: listener.localAddress?.port ?? 0)
        } catch {
            throw NIOTransportError(.connectFailed, "no port of 127.0.0.1 is free: \(error)")
        }
    }

    private static func join(
        _ inner: any Channel, _ host: String, _ port: Int, _ tls: NIOSSLContext
    ) -> EventLoopFuture<Void> {
        ClientBootstrap(group: inner.eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { outer in
                outer.eventLoop.makeCompletedFuture {
                    // Anything that cannot be parsed as an address is a name.
                    let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
                    let handler = try NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host)
                    try outer.pipeline.syncOperations.addHandlers(handler, PassingHandler(to: inner))
                }
            }
            .connect(host: host, port: port)
            .flatMapThrowing { outer in
                try inner.pipeline.syncOperations.addHandler(PassingHandler(to: outer))
            }
            .flatMap { inner.setOption(.autoRead, value: true) }
    }
}

/// Forwards the bytes and the end of one channel to another channel of the same loop.
private final class PassingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    init(to other: any Channel) { self.other = other }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other.write(unwrapInboundIn(data), promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) { other.flush() }

    /// Forwards backpressure: while this side does not accept bytes, the other is not read.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        other.setOption(.autoRead, value: context.channel.isWritable).whenFailure { _ in }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
