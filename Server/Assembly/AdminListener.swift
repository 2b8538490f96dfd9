import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import TidemarkAPI
import TidemarkEdge
import TidemarkTelemetry

/// The listener for operators. It has a socket of its own, so that its answers are never reachable at the clients'
/// address. It speaks plain HTTP and belongs on the loopback address; for access from afar, operators use a tunnel or a
/// proxy.
enum AdminListener {
    /// A scraper and a few probes need no more.
    private static let connectionsMax = 64
    /// A connection without traffic is closed after this time.
    private static let idleMax = Duration.seconds(60)

    /// Serves until a graceful shutdown.
    static func service(
        at address: ListenAddress, router: Router<APIContext>, eventLoops: any EventLoopGroup, logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void
    ) -> any Service {
        var logger = logger
        logger[metadataKey: "listener"] = "admin"
        return Application(
            router: router, server: .http1(configuration: .init(idleTimeout: TimeAmount(idleMax))),
            configuration: .init(
                address: .hostname(address.host, port: address.port),
                availableConnectionsDelegate: MaximumAvailableConnections(connectionsMax)),
            onServerRunning: { [logger] channel in
                let port = channel.localAddress?.port ?? address.port
                logger.info(
                    "Operators are listened to",
                    metadata: ["address": "\(ListenAddress(host: address.host, port: port))"])
                if !address.isLoopback {
                    logger.warning(
                        "Anyone who reaches the listener for operators can read its figures: keep clients away")
                }
                await onListening(port)
            },
            eventLoopGroupProvider: .shared(eventLoops), logger: logger)
    }
}

extension ListenAddress {
    /// True when only programs on this machine reach the address.
    var isLoopback: Bool {
        // A name may resolve to any address, however it begins.
        guard let address = try? SocketAddress(ipAddress: host, port: 0) else { return host == "localhost" }
        return address.protocol == .inet ? host.hasPrefix("127.") : address.ipAddress == "::1"
    }
}

extension Telemetry {
    /// The close codes that say something about the peer: a broken protocol, an invalid token, an exceeded limit.
    private static let notedCodes: Set<UInt16> = [1002, 1003, 1007, 1008, 1009, 4400, 4401, 4403, 4411, 4429]

    /// Counts what the edge refuses and closes.
    @Sendable func note(_ note: EdgeNote) {
        switch note {
        case .refused(let peer):
            metrics.connectionsRefused.count()
            security.note(.connection, "no_room", peer: peer?.ipAddress)
        case .unopened(let fault, let peer):
            metrics.openingsFailed.count(fault.rawValue)
            security.note(.opening, fault.rawValue, peer: peer?.ipAddress)
        case .unforwarded(let peer):
            metrics.forwardingUnread.count()
            security.note(.forwarding, "unreadable", peer: peer?.ipAddress)
        case .misdirected(let fault, let peer):
            metrics.refusals.count(fault.code)
            security.note(.site, fault.rawValue, peer: peer?.ipAddress)
        case .closing(let code, let peer):
            metrics.closes.count("\(code)")
            guard Self.notedCodes.contains(code) else { return }
            security.note(.close, "\(code)", peer: peer?.ipAddress)
        }
    }
}
