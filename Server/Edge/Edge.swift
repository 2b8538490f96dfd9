package import HummingbirdCore
package import NIOCore
package import NIOSSL

/// The server's only entrance: HTTP/1.1 for a router, with TLS or without, and WebSockets at `/v1/sync` for
/// ``SocketOwner``s.
///
/// ```swift
/// let edge = Edge(limits: EdgeLimits()) { loop in Sessions(on: loop) }
/// let app = Application(router: router, server: edge.server)
/// ```
/// A graceful shutdown notifies every socket's owner (``SocketOwner/draining(_:)``), answers the requests in flight and
/// closes idle connections.
package struct Edge: Sendable {
    /// The bounds that this edge keeps.
    package let limits: EdgeLimits
    private let ledger: ConnectionLedger
    private let sites: SiteCheck
    private let loops: LoopDirectory
    private let tls: (@Sendable () -> NIOSSLContext)?

    /// - Parameters:
    ///   - sites: judges the host name of each request, and the origin of the page that makes it.
    ///   - proxies: the proxies that are trusted to state the peer's address.
    ///   - tls: called for each connection, so that a certificate can be replaced; `nil` speaks plain text.
    ///   - observe: receives refusals and closes, for metrics and logs; called on the connection's loop, must not
    ///     block.
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

    /// The argument for `Application(router:server:…)`. Use it for one application: the counts are this edge's.
    package var server: HTTPServerBuilder {
        HTTPServerBuilder { responder in
            EdgeChannel(
                responder: responder, limits: limits, ledger: ledger, sites: sites, loops: loops, tls: tls)
        }
    }

    /// Ends the count of an HTTP connection as unauthenticated; call it when a request proved its token. Any thread.
    package func markAuthenticated(_ channel: any Channel) { ledger.markAuthenticated(channel) }

    /// Returns the peer's address, if it is known: behind a trusted proxy, its client's. Any thread.
    package func peer(of channel: any Channel) -> SocketAddress? { ledger.peer(of: channel) }

    /// Bytes of long unfinished messages of unauthenticated sockets. Any thread.
    package var unauthenticatedBytes: Int { ledger.unauthenticatedBytes }

    /// The connections now. Any thread.
    package var counts: EdgeCounts { ledger.snapshot() }
}
