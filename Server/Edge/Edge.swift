package import HummingbirdCore
package import NIOCore
package import NIOSSL

/// The server's only door: HTTP/1.1 for a router, with TLS or without, and WebSockets at `/v1/sync` for ``SocketOwner``s.
///
/// ```swift
/// let edge = Edge(limits: EdgeLimits()) { loop in Sessions(on: loop) }
/// let port = BoundPort()
/// let app = Application(router: router, server: edge.server, onServerRunning: port.onServerRunning)
/// ```
/// A graceful shutdown tells every socket's owner
/// (``SocketOwner/draining(_:)``), answers the requests in flight and closes idle connections.
package struct Edge: Sendable {
    /// The bounds that this edge keeps.
    package let limits: EdgeLimits
    private let ledger: ConnectionLedger
    private let sites: SiteCheck
    private let loops: LoopDirectory
    private let tls: (@Sendable () -> NIOSSLContext)?

    /// - Parameters:
    ///   - sites: judges the name by which each request came, and the page that makes it.
    ///   - proxies: those whose word counts for who is at the other end.
    ///   - tls: asked for each connection, so that a certificate can be replaced; `nil` speaks plain text.
    ///   - observe: told of what is refused and closed, for figures and logs; on the connection's loop, must not block.
    ///   - makeOwner: called once on each event loop, when its first socket opens.
    package init(
        limits: EdgeLimits,
        sites: SiteCheck = SiteCheck(),
        proxies: TrustedProxies? = nil,
        tls: (@Sendable () -> NIOSSLContext)? = nil,
        observe: @escaping @Sendable (EdgeNote) -> Void = { _ in },
        makeOwner: @escaping @Sendable (any EventLoop) -> any SocketOwner
    ) {
        self.limits = limits
        self.tls = tls
        ledger = ConnectionLedger(limits, proxies: proxies, observe: observe)
        self.sites = sites
        loops = LoopDirectory(limits: limits, makeOwner: makeOwner)
    }

    /// What `Application(router:server:…)` takes. Use it for one application: the counts are this edge's.
    package var server: HTTPServerBuilder {
        HTTPServerBuilder { responder in
            EdgeChannel(
                responder: responder, limits: limits, ledger: ledger, sites: sites, loops: loops, tls: tls)
        }
    }

    /// Takes an HTTP connection off its address's count of strangers; call it when a request proved its token. Any thread.
    package func markAuthenticated(_ channel: any Channel) { ledger.markAuthenticated(channel) }

    /// Who is at the other end of a connection, as far as it can be told: behind a trusted proxy its client. Any thread.
    package func peer(of channel: any Channel) -> SocketAddress? { ledger.peer(of: channel) }

    /// Bytes of long unfinished messages of sockets that nobody knows. Any thread.
    package var unauthenticatedBytes: Int { ledger.unauthenticatedBytes }

    /// The connections now. Any thread.
    package var counts: EdgeCounts { ledger.snapshot() }
}
