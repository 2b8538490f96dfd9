package import HummingbirdCore
package import NIOCore

/// The server's only door: HTTP/1.1 for a router, and WebSockets at `/v1/sync` for ``SocketOwner``s.
///
/// ```swift
/// let edge = Edge(limits: EdgeLimits()) { loop in Sessions(on: loop) }
/// let port = BoundPort()
/// let app = Application(router: router, server: edge.server, onServerRunning: port.onServerRunning)
/// ```
/// Wrap ``server`` with Hummingbird's `.tls` to serve `wss`. A graceful shutdown tells every socket's owner
/// (``SocketOwner/draining(_:)``), answers the requests in flight and closes idle connections.
package struct Edge: Sendable {
    /// The bounds that this edge keeps.
    package let limits: EdgeLimits
    private let ledger: ConnectionLedger
    private let handshake: HandshakeCheck
    private let loops: LoopDirectory

    /// - Parameters:
    ///   - allowedOrigins: exact values of `Origin` (scheme, host and port) whose pages may open sockets; requests
    ///     without that header, which is what apps send, need none.
    ///   - observe: told of what is refused and closed, for figures and logs; on the connection's loop, must not block.
    ///   - makeOwner: called once on each event loop, when its first socket opens.
    package init(
        limits: EdgeLimits,
        allowedOrigins: Set<String> = [],
        observe: @escaping @Sendable (EdgeNote) -> Void = { _ in },
        makeOwner: @escaping @Sendable (any EventLoop) -> any SocketOwner
    ) {
        self.limits = limits
        ledger = ConnectionLedger(limits, observe: observe)
        handshake = HandshakeCheck(allowedOrigins: allowedOrigins)
        loops = LoopDirectory(limits: limits, makeOwner: makeOwner)
    }

    /// What `Application(router:server:…)` takes. Use it for one application: the counts are this edge's.
    package var server: HTTPServerBuilder {
        HTTPServerBuilder { responder in
            EdgeChannel(
                responder: responder, limits: limits, ledger: ledger, handshake: handshake, loops: loops)
        }
    }

    /// Takes an HTTP connection off its address's count of strangers; call it when a request proved its token. Any thread.
    package func markAuthenticated(_ channel: any Channel) { ledger.markAuthenticated(channel) }

    /// Bytes of long unfinished messages of sockets that nobody knows. Any thread.
    package var unauthenticatedBytes: Int { ledger.unauthenticatedBytes }

    /// The connections now. Any thread.
    package var counts: EdgeCounts { ledger.snapshot() }
}
