package import NIOCore

/// Events of connections that the edge refuses or closes.
package enum EdgeNote: Sendable {
    /// All slots are taken, or all of the address: the connection may ask for the server's health, or is closed at
    /// once.
    case refused(SocketAddress?)
    /// The server begins to close a WebSocket with this code.
    case closing(UInt16, SocketAddress?)
    /// The connection ended before its first HTTP request could be read.
    case unopened(OpeningFault, SocketAddress?)
    /// A trusted proxy did not name the client of a request in a readable way: the request is treated as the proxy's
    /// own.
    case unforwarded(SocketAddress?)
    /// A request was refused for its host name, or for the page that made it.
    case misdirected(SiteCheck.Fault, SocketAddress?)

    /// The reason why a connection could not begin.
    package enum OpeningFault: String, CaseIterable, Sendable {
        /// Plain text arrived where TLS is spoken.
        case plainText = "plain_text"
        /// The TLS handshake failed.
        case handshake
        /// A proxy that must name the client first did not, or not in time.
        case proxyHeader = "proxy_header"
    }
}
