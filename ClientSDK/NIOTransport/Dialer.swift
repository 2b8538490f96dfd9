import NIOCore
import NIOPosix
import NIOSSL
import TidemarkLock

/// Opens TCP connections, with TLS if requested.
struct Dialer {
    let host: String
    let port: Int
    /// `nil` for plain text.
    let tls: NIOSSLContext?
    let timeout: Duration
    let group: any EventLoopGroup

    /// - Parameter trustRootsFile: PEM file of the authorities to trust instead of the system's.
    init(
        host: String, port: Int, useTLS: Bool, trustRootsFile: String?, timeout: Duration, group: any EventLoopGroup
    ) throws(NIOTransportError) {
        self.host = host
        self.port = port
        self.timeout = timeout
        self.group = group
        guard useTLS else {
            tls = nil
            return
        }
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let trustRootsFile { configuration.trustRoots = .file(trustRootsFile) }
        do {
            tls = try NIOSSLContext(configuration: configuration)
        } catch {
            throw NIOTransportError(.connectFailed, "TLS cannot be set up: \(error)")
        }
    }

    /// The value of the `Host` header: the port is left out when it is the scheme's default.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (tls == nil ? 80 : 443) ? name : "\(name):\(port)"
    }

    /// Connects and lets `configure` build the pipeline behind TLS, on the channel's event loop.
    ///
    /// - Throws: ``NIOTransportError``. `CancellationError` immediately, except during a name look-up, which cannot be
    ///   cancelled.
    func connect<Output: Sendable>(
        _ configure: @escaping @Sendable (any Channel) throws -> Output
    ) async throws -> Output {
        let attempt = DialAttempt()
        return try await withTaskCancellationHandler {
            do {
                return try await open { channel in
                    attempt.began(channel)
                    return try configure(channel)
                }
            } catch {
                try Task.checkCancellation()
                throw error
            }
        } onCancel: {
            attempt.cancel()
        }
    }

    private func open<Output: Sendable>(
        _ configure: @escaping @Sendable (any Channel) throws -> Output
    ) async throws -> Output {
        let bootstrap = ClientBootstrap(group: group)
            .connectTimeout(TimeAmount(timeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        do {
            return try await bootstrap.connect(host: host, port: port) { [host, tls] channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        // An address has no server name to indicate; the certificate is then checked against the address.
                        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
                        let handler = try NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    return try configure(channel)
                }
            }
        } catch ChannelError.connectTimeout {
            throw NIOTransportError(.timedOut, "connecting took longer than \(timeout)")
        } catch {
            throw NIOTransportError(.connectFailed, "\(error)")
        }
    }
}

/// The channels of a connection attempt: a name can have several addresses, each with its own channel. When the attempt
/// is cancelled, all are closed, including those that begin later.
private final class DialAttempt: Sendable {
    private struct State {
        var channels: [any Channel] = []
        var isCancelled = false
    }

    private let state = Lock(State())

    func began(_ channel: any Channel) {
        let isCancelled = state.withLock { state in
            state.channels.append(channel)
            return state.isCancelled
        }
        if isCancelled { channel.close(promise: nil) }
    }

    func cancel() {
        let channels = state.withLock { state in
            state.isCancelled = true
            return state.channels
        }
        for channel in channels { channel.close(promise: nil) }
    }
}
